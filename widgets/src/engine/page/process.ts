/** The time of a worker's thread, in place of `node:process`: browsers tell the wall's alone. */
export function threadCpuUsage(): { user: number; system: number } {
  return { user: performance.now() * 1000, system: 0 };
}
