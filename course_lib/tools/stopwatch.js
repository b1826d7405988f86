// How long from a key press in an explorer to its new picture [ms]: box.seen, null until then.
async box => {
    await new Promise(idle => requestIdleCallback(idle));  // scrolling here is not measured
    box.seen = null;
    if (box.watched) return;
    box.watched = true;
    let start = null;
    box.addEventListener("keydown", () => { start = performance.now(); }, true);
    box.addEventListener("load", () => {
        if (start === null) return;
        const began = start;
        start = null;
        const seen = () => { box.seen = performance.now() - began; };
        requestAnimationFrame(() => requestAnimationFrame(seen));
    }, true);
}
