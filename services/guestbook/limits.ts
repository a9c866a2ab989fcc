import type { RateLimit } from '../../platform/http/rate-limit.ts';

const notes = { per: 'address', counts: 'new notes and corrections of notes' } as const;

export const NOTES_PER_TEN_MINUTES = {
  ...notes,
  kind: 'notes-10m',
  window: '10 minutes',
  setting: 'limitNotesPerTenMinutes',
} as const satisfies RateLimit;

export const NOTES_PER_DAY = {
  ...notes,
  kind: 'notes-day',
  window: '1 day',
  setting: 'limitNotesPerDay',
} as const satisfies RateLimit;

export const GUEST_NOTES_PER_HOUR = {
  kind: 'guest-notes-service',
  window: '1 hour',
  setting: 'limitGuestNotesPerHour',
  per: 'service',
  counts: 'new notes of guests',
} as const satisfies RateLimit;

const reports = { per: 'address', counts: 'reports of notes' } as const;

export const REPORTS_PER_TEN_MINUTES = {
  ...reports,
  kind: 'reports-10m',
  window: '10 minutes',
  setting: 'limitNotesPerTenMinutes',
} as const satisfies RateLimit;

export const REPORTS_PER_DAY = {
  ...reports,
  kind: 'reports-day',
  window: '1 day',
  setting: 'limitNotesPerDay',
} as const satisfies RateLimit;
