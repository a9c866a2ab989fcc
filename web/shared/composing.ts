/** Whether an input method handles the key. Safari marks its last key only by keyCode 229. */
export const isComposing = ({ isComposing, keyCode }: KeyboardEvent): boolean =>
  isComposing || keyCode === 229;
