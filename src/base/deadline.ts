/** The promise's outcome, or the error when it takes longer. What the promise does later is ignored. */
export async function within<Result>(ms: number, promise: Promise<Result>, late: () => Error): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(late()), ms);
  });
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => undefined);
  }
}
