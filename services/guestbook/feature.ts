import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { notesClosure } from './closure.ts';
import { guestbookContract } from './contract.ts';
import type { GuestbookDeps } from './deps.ts';
import { appealsSection, notesSection } from './export.ts';
import { guestbookHandlers } from './handlers.ts';

export const guestbookFeature: Feature<GuestbookDeps> = {
  routes: (deps) => [implement(guestbookContract, guestbookHandlers(deps))],
  closure: notesClosure,
  exportSections: [notesSection, appealsSection],
};
