/** Registers cleanups that run once, last first, on `end()`, SIGINT or SIGTERM. */
export function createEndings() {
  const ends: (() => unknown)[] = [];
  let ending: Promise<void> | undefined;

  function end(): Promise<void> {
    ending ??= (async () => {
      // Cleanups registered meanwhile run after the others.
      for (const one of ends.reverse()) await one();
    })();
    return ending;
  }

  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    process.once(signal, () => {
      end()
        .catch(console.error)
        .finally(() => process.exit(status));
    });

  return {
    onEnd: (one: () => unknown) => {
      ends.push(one);
    },
    end,
  };
}
