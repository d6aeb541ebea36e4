/** File name of the code around the action in stacks. Error texts do not show its frames. */
export const OWN_FILE = "svcnb:engine";
