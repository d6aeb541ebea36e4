/** Drawings of the kernel's charts inside a panel, in the page's own colours. */

const SHAPES = new Set(["svg", "g", "path", "rect", "line", "circle", "text", "tspan", "defs", "clipPath"]);

/**
 * Makes an element of an SVG. Only shapes and texts are taken, without scripts, links or listeners: it contains names
 * that users have chosen.
 */
export function drawing(svg: string): Element {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  if (!parsed || parsed.localName !== "svg") throw new Error("the kernel did not send a drawing");
  clean(parsed);
  parsed.setAttribute("class", "svcnb-drawing");
  return document.importNode(parsed as never, true);
}

function clean(element: Element): void {
  for (const { name } of [...element.attributes]) {
    if (/^on|href$/i.test(name)) element.removeAttribute(name);
  }
  for (const child of [...element.children]) {
    if (SHAPES.has(child.localName)) clean(child);
    else child.remove();
  }
}
