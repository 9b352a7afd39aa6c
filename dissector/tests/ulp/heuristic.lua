-- SPDX-License-Identifier: GPL-2.0-or-later
-- heuristic.lua - a heuristic dissector as a user would add one: it takes SENDs that begin with "hello".
local greeting = Proto("greeting", "Greeting over RDMA")

local function takes(tvb, pinfo, tree)
	if tvb:len() < 5 or tvb(0, 5):string() ~= "hello" then
		return false
	end
	tree:add(greeting, tvb())
	return true
end

greeting:register_heuristic("infiniband.payload", takes)
