import type { Handlers } from '../../platform/http/route.ts';
import { claimHandlers } from './claims/handlers.ts';
import type { moderationContract } from './contract.ts';
import { reviewHandlers } from './decisions/handlers.ts';
import { subjectHandlers } from './decisions/record-handlers.ts';
import type { ModerationDeps } from './deps.ts';
import { queueHandlers } from './queue/handlers.ts';

export function moderationHandlers(deps: ModerationDeps): Handlers<typeof moderationContract> {
  return {
    ...queueHandlers(deps),
    ...claimHandlers(deps),
    ...reviewHandlers(deps),
    ...subjectHandlers(deps),
  };
}
