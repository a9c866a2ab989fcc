const ends: (() => Promise<unknown>)[] = [];

/** Registers what test files of one process share, to be closed after the last of them. */
export function onProcessEnd(end: () => Promise<unknown>): void {
  ends.push(end);
}

export async function endProcess(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}
