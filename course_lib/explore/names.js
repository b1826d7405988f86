// Names and spoken values for what ipywidgets leave without; `this` is the image that carries it.
(async picture => {
  let root;
  for (let i = 0; i < 100 && !(root = picture.closest(".course-explorer")); i++)
    await new Promise(wait => setTimeout(wait, 100));
  if (!root || root.named) return;
  root.named = true;
  const says = JSON.parse(picture.dataset.says), put = (element, name, value) => {
    if (element && value !== undefined && element.getAttribute(name) !== value)
      element.setAttribute(name, value);
  };
  const name = () => {
    const image = root.querySelector(".course-picture");
    put(image, "alt", picture.dataset.alt);
    const readout = root.querySelector(".course-readout .widget-html-content");
    put(readout, "role", "status");
    root.querySelectorAll(".course-row").forEach((row, i) => {
      const handle = row.querySelector(".noUi-handle"), label = row.querySelector("label");
      put(handle, "aria-label", label?.textContent);
      if (handle && says[i])
        put(handle, "aria-valuetext", says[i][Math.round(handle.getAttribute("aria-valuenow"))]);
      row.querySelectorAll(".widget-play button").forEach((button, k) => {
        const playing = button.querySelector(".fa-pause");
        put(button, "aria-label", ["Play", "Stop and go back to the start", "Repeat"][k]);
        if (k === 0) put(button, "aria-pressed", String(!!playing));
      });
    });
  };
  name();
  new MutationObserver(name).observe(root, {subtree: true, childList: true, attributes: true,
    attributeFilter: ["aria-valuenow", "aria-valuetext", "class"]});
})(this)
