import type { Experience, ReportReason } from '../../domain/guestbook/words.ts';

/** What people read for each reason of a report, in the order of the form. */
export const REASON_NAMES: Readonly<Record<ReportReason, string>> = {
  spam: 'Spam or advertising',
  abuse: 'Abuse or harassment',
  illegal: 'Something illegal',
  privacy: "Someone's private details",
  impersonation: 'Pretending to be someone else',
  other: 'Something else',
};

/** The name of a reason within a sentence. */
export const reasonName = (reason: string): string =>
  (REASON_NAMES[reason as ReportReason] ?? reason.replaceAll('_', ' ')).replace(/^./, (first) =>
    first.toLowerCase(),
  );

export const EXPERIENCES: readonly { id: Experience; name: string; href: string }[] = [
  { id: 'service', name: 'Service', href: '/' },
  { id: 'observatory', name: 'Observatory', href: '/guestbook/observatory' },
  { id: 'two-clerks', name: 'Two Clerks', href: '/guestbook/two-clerks' },
];

export const experienceName = (id: Experience) =>
  EXPERIENCES.find((one) => one.id === id)?.name ?? '';
