/** File name of the code around the action in stacks. Its frames are not shown. */
export const OWN_FILE = "svcnb:engine";
