import type { Experience } from '../../domain/guestbook/words.ts';

export type { Experience };

export const EXPERIENCES: readonly { id: Experience; name: string; href: string }[] = [
  { id: 'service', name: 'Service', href: '/' },
  { id: 'observatory', name: 'Observatory', href: '/guestbook/observatory' },
  { id: 'two-clerks', name: 'Two Clerks', href: '/guestbook/two-clerks' },
];

export const experienceName = (id: Experience) =>
  EXPERIENCES.find((one) => one.id === id)?.name ?? '';
