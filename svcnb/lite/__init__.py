"""The workbook as a static site: JupyterLab, lessons and emulator in a browser tab, without a server that computes."""
