/** A longer list is not counted on every read: a figure of this size means this many or more. */
export const MAX_COUNTED = 1000;
