/** What code around the action gives as its file in stacks: its frames are nobody's business. */
export const OWN_FILE = "svcnb:engine";
