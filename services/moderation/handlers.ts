import type { Handlers } from '../http/route.ts';
import type { moderationContract } from './contract.ts';
import type { ModerationParts } from './parts.ts';
import { queueHandlers } from './queue-handlers.ts';
import { reviewHandlers } from './review-handlers.ts';
import { subjectHandlers } from './subject-handlers.ts';

export function moderationHandlers(parts: ModerationParts): Handlers<typeof moderationContract> {
  return { ...queueHandlers(parts), ...reviewHandlers(parts), ...subjectHandlers(parts) };
}
