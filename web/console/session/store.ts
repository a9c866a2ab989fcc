import { useEffect, useReducer } from 'preact/hooks';

/** Creates a store with immutable state: `set` replaces the state and notifies the listeners. */
export function createStore<S extends object>(initial: S) {
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

type Store<S extends object> = ReturnType<typeof createStore<S>>;

/** Returns the state, and renders the component again after each change. */
export function useStore<S extends object>(store: Store<S>): S {
  const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0);
  useEffect(() => {
    redraw(undefined);
    return store.subscribe(() => redraw(undefined));
  }, [store]);
  return store.get();
}
