const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** A number of bytes in the largest unit of which there is at least one, for people: 8192 is 8.192 kB. */
export function byteUnits(bytes: number): { value: number; unit: (typeof UNITS)[number] } {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return { value: bytes / 1000 ** step, unit: UNITS[step] ?? 'bytes' };
}
