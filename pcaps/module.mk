# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# pcaps/: the library of captures. vs-pcap lives here once it exists.
