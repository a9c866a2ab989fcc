import { fullTime as fullLocalTime } from '../../shared/time.tsx';
import type { Item, NoteItem } from './api-model.ts';

// The same form of times as on the site, in the reader's zone.
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const dateTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const count = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** The time of day for a time of today; date and time otherwise. */
export function formatTime(at: string | number | Date): string {
  const date = new Date(at);
  return date.toDateString() === new Date().toDateString()
    ? clock.format(date)
    : dateTime.format(date);
}

/** The time of day for a time of today; the day otherwise. */
export function formatShort(at: string): string {
  const date = new Date(at);
  return date.toDateString() === new Date().toDateString()
    ? clock.format(date)
    : shortDay.format(date);
}

/** Day and time with the zone, for titles. */
export const fullTime = (at: string | number | Date): string => fullLocalTime(new Date(at));
export const formatCount = (value: number): string => count.format(value);
export const formatRate = (value: number | null): string =>
  value === null ? '–' : percent.format(value);

const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** A time span in its largest unit, rounded down: "3 d", "45 min". */
export function formatDuration(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds < 1) return seconds < 0.05 ? '0 s' : `${seconds.toFixed(1)} s`;
  const [size, unit] = UNITS.find(([length]) => seconds >= length) ?? UNITS[3];
  return `${Math.floor(seconds / size)} ${unit}`;
}

const firstSeen = new WeakMap<object, number>();

/** An item's current age in seconds: the service's value plus the time since the first call. */
export function currentAge(item: Pick<Item, 'age_seconds'>): number {
  const now = Date.now();
  const seen = firstSeen.get(item) ?? now;
  firstSeen.set(item, seen);
  return item.age_seconds + (now - seen) / 1000;
}

export const plural = (number: number, one: string, many = `${one}s`): string =>
  `${formatCount(number)} ${number === 1 ? one : many}`;

/** A text that begins with a capital letter. */
export const toSentenceCase = (text: string): string =>
  text.replace(/^./u, (first) => first.toUpperCase());

/** At so many notes, a fold stops counting. */
const MAX_COUNTED = 250;

type Fold = NonNullable<NoteItem['fold']>;

/** What a row represents, such as '12 notes like this'. */
export function foldText({ kind, notes }: Fold): string {
  const count = notes >= MAX_COUNTED ? `${formatCount(notes)} or more` : formatCount(notes);
  const noun = notes === 1 ? 'note' : 'notes';
  return kind === 'text' ? `${count} ${noun} like this` : `${count} ${noun} from one address`;
}
