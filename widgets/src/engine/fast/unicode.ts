/**
 * Characters of Unicode 17 that QuickJS supports but V8 does not yet: letters with a case, and combining marks.
 *
 * A test compares both engines for every character, so it fails with a newer V8.
 */

/** Matches a text that contains one of these characters. The letters of Beria Erfe and Tai Yo are surrogate pairs. */
export const NEWER =
  /[\ua7ce\ua7cf\ua7d2-\ua7d5\u1acf-\u1adc\u1ae0-\u1aeb\ua7f1]|\ud81b[\udea0-\uded3]|\ud839[\udee3-\udef5]/;

/** Matches source text that contains one of the letters as an escape. */
export const ESCAPED = /\\u(?:a7c[ef]|a7d[2-5]|\{0*(?:a7c[ef]|a7d[2-5]|16e[a-d][\da-f])\}|d81b)/i;
