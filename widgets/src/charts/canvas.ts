/** Replacement of the package vega-canvas. Without a browser, its canvas only measures text, with the font Arimo. */

/** Widths of the characters in a regular and a bold font, in thousandths of the font size. */
declare const WIDTHS: [Record<string, number>, Record<string, number>];

const BOLD = /\b(?:bold(?:er)?|[6-9]00) /;
const MONOSPACE = /mono|courier|consolas/i;
const NARROW = /[\p{Cc}\p{Cf}\p{Mn}\p{VS}]/u;
const WIDE = /[\p{Emoji_Presentation}\p{scx=Han}\p{scx=Hang}\p{scx=Hira}\p{scx=Kana}\uff01-\uff60]/u;

const measuring = {
  font: "",
  measureText(text: string): { width: number } {
    const size = Number(/([\d.]{1,20})px/.exec(this.font)?.[1] ?? 0);
    const known = WIDTHS[BOLD.test(this.font) ? 1 : 0];
    const width = (character: string) =>
      NARROW.test(character)
        ? 0
        : MONOSPACE.test(this.font)
        ? 600
        : known[character] ?? (WIDE.test(character) ? 1000 : 700);
    return { width: Array.from(text, width).reduce((sum, each) => sum + each, 0) * size / 1000 };
  },
};

export function canvas(width: number, height: number): unknown {
  if (typeof document === "undefined") return width === 1 && height === 1 ? { getContext: () => measuring } : null;
  return Object.assign(document.createElement("canvas"), { width, height });
}

export function image(): unknown {
  return typeof Image === "undefined" ? null : Image;
}
