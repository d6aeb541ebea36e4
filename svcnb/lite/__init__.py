"""Static site in which JupyterLab, the lessons and the emulator run in a browser tab."""
