/** What is ended when the work is over, or by a signal before that: the last begun first, and once. */
export function openEndings() {
  const ends: (() => unknown)[] = [];
  let ending: Promise<void> | undefined;

  function end(): Promise<void> {
    ending ??= (async () => {
      // Whatever is begun meanwhile comes after.
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
