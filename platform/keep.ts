/** Returns a function that makes a value on its first call, and returns the same one afterwards. */
export function keep<Value>(make: () => Value): () => Value {
  let kept: Value | undefined;
  return () => {
    kept ??= make();
    return kept;
  };
}
