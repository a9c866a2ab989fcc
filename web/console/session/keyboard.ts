/**
 * Whether the device has a mouse or a touch pad, and therefore most probably a keyboard: others see
 * no hints at keys. The keys themselves work on every device.
 */
export const HAS_KEYBOARD = matchMedia('(hover: hover) and (pointer: fine)').matches;
