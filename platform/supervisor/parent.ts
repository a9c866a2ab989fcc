/** Sends a message to the supervisor, if this process has one. */
export function tellParent(message: string): void {
  // Ignore errors: the parent may have exited.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

/**
 * Calls `stop` when the supervisor ends. A killed supervisor cannot stop its children, but they
 * notice that its IPC channel closes.
 */
export function onParentGone(stop: () => void): void {
  if (!process.send) return;
  if (!process.connected) {
    queueMicrotask(stop);
    return;
  }
  process.once('disconnect', stop);
  process.channel?.unref(); // the listener must not keep a finished process alive
}
