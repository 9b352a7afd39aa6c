// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
//
// browser.js - appended to a copy of a page of `vs-trace export`: uses it as hands would, and writes what it found into
// an element "result", which browser.sh reads from the dumped document. Time is virtual there: what is held instead of
// times is that no screen costs more for being one of many.
'use strict';
window.addEventListener('load', async () => {
	const lines = [], pre = document.createElement('pre');
	const claim = (ok, what) => lines.push((ok ? 'ok ' : 'not ok ') + what);
	const frame = () => new Promise(r => setTimeout(r, 120));
	const view = document.getElementById('view'), side = document.getElementById('side');
	const svg = document.querySelector('#sheet svg'), T = JSON.parse(document.getElementById('trace').textContent);
	const hand = (el, type) => el.dispatchEvent(new MouseEvent(type, {bubbles: true, cancelable: true, view: window}));
	const set = (id, v, type) => { const e = document.getElementById(id); e.value = v; e.dispatchEvent(new Event(type, {bubbles: true})); };
	try {
		await frame();
		const seen = svg.querySelectorAll('g.e');
		claim(seen.length >= Math.min(5, T.ev.length), 'events are drawn');
		claim(!document.querySelector('script[src], link, img, iframe'), 'nothing is loaded from elsewhere');

		const arrow = [...seen].find(g => g.querySelector('path.line'));
		hand(arrow, 'mouseover');
		claim(/psn/.test(side.textContent) && /time/.test(side.textContent), 'hover shows the fields of a packet');
		hand(arrow, 'click');
		await frame();
		claim(svg.getAttribute('class') === 'chain' && svg.querySelectorAll('g.hot').length > 0, 'click lights up a chain');
		claim(side.textContent.includes('How it came to that'), 'click tells how it came to that');
		const effect = side.querySelector('[data-go]');
		hand(effect, 'click');
		await frame();
		claim(svg.querySelectorAll('g.sel').length <= 1, 'one event is chosen at a time');
		view.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}));
		await frame();
		claim(svg.getAttribute('class') !== 'chain', 'Escape lets go');
		view.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true}));
		await frame();
		claim(svg.querySelectorAll('g.sel').length === 1, 'an arrow key chooses an event');
		view.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}));

		set('find', 'ack', 'input');
		await frame();
		claim(/^[1-9][0-9]* found$/.test(document.getElementById('count').textContent), 'search finds something');
		set('find', '', 'input');
		set('mode', 'true', 'change');
		await frame();
		claim(svg.querySelectorAll('g.e').length > 0, 'the true scale draws, too');
		set('mode', 'read', 'change');
		await frame();

		// Whatever its length, a trace costs what is on the screen.
		let most = 0, steepest = 0;
		for (let k = 0; k <= 40; k++) {
			view.scrollTop = (view.scrollHeight - view.clientHeight) * k / 40;
			window.vsDraw();
			most = Math.max(most, svg.querySelectorAll('*').length);
			for (const p of svg.querySelectorAll('path.line')) {
				const d = p.getAttribute('d').match(/^M\S+ (\S+)L\S+ (\S+)$/);
				steepest = Math.max(steepest, Math.abs(d[2] - d[1]));
			}
		}
		claim(most < 1000, 'no screen has more than 1000 elements: ' + most);
		claim(steepest < 300, 'arrows are as steep wherever one has scrolled to: ' + steepest);
		claim(!svg.querySelector('script, img, i, b, [onerror]') && !side.querySelector('script, img, [onerror]'), 'text stays text');
		lines.push('events ' + T.ev.length);
	} catch (e) {
		claim(false, 'an exception: ' + e.stack);
	}
	pre.id = 'result';
	pre.textContent = lines.join('\n') + '\nend\n';
	document.body.appendChild(pre);
});
