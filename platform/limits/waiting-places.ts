/** Who holds a place. A credential, a moderator and a member may have the same id. */
export interface PlaceHolder {
  kind: 'credential' | 'moderator' | 'member';
  id: string;
}

export type WaitingPlaces = ReturnType<typeof createWaitingPlaces>;

/**
 * Limits the requests that this process holds open, long polls and streams, because each costs a
 * connection and memory while it lasts. `perHolder` limits each holder, `total` all holders of a kind:
 * members who wait keep no moderator out.
 */
export function createWaitingPlaces(limits: { perHolder: number; total: number }) {
  const taken = new Map<string, number>();
  const total = { credential: 0, moderator: 0, member: 0 };

  /** Takes a place, which `leave` returns; or says which limit is reached. */
  function take({ kind, id }: PlaceHolder): { leave: () => void } | 'holder_full' | 'full' {
    const holder = `${kind} ${id}`;
    const own = taken.get(holder) ?? 0;
    if (own >= limits.perHolder) return 'holder_full';
    if (total[kind] >= limits.total) return 'full';
    taken.set(holder, own + 1);
    total[kind]++;
    let left = false;
    const leave = (): void => {
      if (left) return;
      left = true;
      total[kind]--;
      const rest = (taken.get(holder) ?? 1) - 1;
      if (rest > 0) taken.set(holder, rest);
      else taken.delete(holder);
    };
    return { leave };
  }

  /** The places that are taken, by the kind of their holders. */
  const held = (): Readonly<Record<PlaceHolder['kind'], number>> => ({ ...total });

  return { take, held, limits };
}
