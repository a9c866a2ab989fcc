export function tellParent(message: string): void {
  // One that is gone needs no word.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

// A supervisor that is killed cannot stop its children; they see its channel close instead.
export function onParentGone(stop: () => void): void {
  if (!process.send) return;
  if (!process.connected) {
    queueMicrotask(stop);
    return;
  }
  process.once('disconnect', stop);
  process.channel?.unref(); // listening must not keep a process that is done
}
