/** Whether a key belongs to an input method, which Safari tells of its last one by 229 alone. */
export const isComposing = ({ isComposing, keyCode }: KeyboardEvent): boolean =>
  isComposing || keyCode === 229;
