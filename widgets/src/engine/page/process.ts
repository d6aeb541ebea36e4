/** Replaces `node:process`. Returns wall-clock time, because browsers do not report processor time. */
export function threadCpuUsage(): { user: number; system: number } {
  return { user: performance.now() * 1000, system: 0 };
}
