/** Milliseconds of processor time that the work takes: unlike those of a clock, they are the same on a machine that is busy. */
export async function cpuTime(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
