import { useEffect, useReducer } from 'preact/hooks';

/** A state that is replaced, never changed, and whoever wants to hear of it. */
export function openStore<S extends object>(initial: S) {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: (): S => state,
    set(patch: Partial<S>): void {
      state = { ...state, ...patch };
      for (const listener of listeners) listener();
    },
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export type Store<S extends object> = ReturnType<typeof openStore<S>>;

/** The state, drawn anew whenever it is replaced. */
export function useStore<S extends object>(store: Store<S>): S {
  const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0);
  useEffect(() => {
    redraw(undefined);
    return store.subscribe(() => redraw(undefined));
  }, [store]);
  return store.get();
}
