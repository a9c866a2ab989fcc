export type WaitingPlaces = ReturnType<typeof openWaitingPlaces>;

/**
 * Requests that this process holds open: long polls and streams. Each costs a connection and some
 * memory for as long as it lasts, so their number is bounded, by credential (or moderator) and in all.
 */
export function openWaitingPlaces(limits: { perHolder: number; total: number }) {
  const held = new Map<string, number>();
  let total = 0;

  /** A place, which `leave` gives back once; or which limit is reached. */
  function take(holder: string): { leave: () => void } | 'holder_full' | 'full' {
    const own = held.get(holder) ?? 0;
    if (own >= limits.perHolder) return 'holder_full';
    if (total >= limits.total) return 'full';
    held.set(holder, own + 1);
    total++;
    let left = false;
    const leave = (): void => {
      if (left) return;
      left = true;
      total--;
      const rest = (held.get(holder) ?? 1) - 1;
      if (rest > 0) held.set(holder, rest);
      else held.delete(holder);
    };
    return { leave };
  }

  return { take };
}
