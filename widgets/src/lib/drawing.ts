/** Drawings of the kernel's charts inside a panel, in the colours of the page. */
import { h } from "./dom.ts";

const SHAPES = new Set(["svg", "g", "path", "rect", "line", "circle", "text", "tspan", "defs", "clipPath"]);

/** Shows a drawing with its name. In a narrow panel, the drawing keeps its size and scrolls horizontally. */
export function drawingArea(svg: string, name: string): HTMLElement {
  return h(
    "div",
    { class: "svcnb-drawn" },
    h("p", { class: "svcnb-hint svcnb-sideways" }, "Scroll sideways to see the whole drawing."),
    h("div", { class: "svcnb-scroll", tabindex: "0", role: "group", "aria-label": name }, drawing(svg) as HTMLElement),
  );
}

/**
 * Creates an element from an SVG text. Copies only shapes and texts, but no scripts, links or listeners, because the
 * SVG contains names that users have chosen.
 */
export function drawing(svg: string): Element {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  if (!parsed || parsed.localName !== "svg") throw new Error("the kernel did not send a valid SVG drawing");
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
