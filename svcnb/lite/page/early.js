/** Worker of the first kernel. The first module starts Python, and the second one is JupyterLite's kernel. */
import "./pyodide/pyodide.mjs";
import "../@KERNEL@";
