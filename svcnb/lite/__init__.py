"""The workbook as a static site: JupyterLab, lessons and emulator run in a browser tab."""
