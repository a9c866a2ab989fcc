import type { Handlers } from '../../platform/http/route.ts';
import type { moderationContract } from './contract.ts';
import { reviewHandlers } from './decisions/handlers.ts';
import { subjectHandlers } from './decisions/record-handlers.ts';
import type { ModerationParts } from './parts.ts';
import { queueHandlers } from './queue/handlers.ts';

export function moderationHandlers(parts: ModerationParts): Handlers<typeof moderationContract> {
  return { ...queueHandlers(parts), ...reviewHandlers(parts), ...subjectHandlers(parts) };
}
