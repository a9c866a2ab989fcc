import { implement, type Routes } from '../../platform/http/route.ts';
import { auditContract } from './audit/contract.ts';
import { auditHandlers } from './audit/handlers.ts';
import { claimHandlers } from './claims/handlers.ts';
import { commentsContract } from './comments/contract.ts';
import { commentHandlers } from './comments/handlers.ts';
import { reviewContract } from './decisions/contract.ts';
import { reviewHandlers } from './decisions/handlers.ts';
import type { DecisionsDeps } from './decisions/membership-decisions.ts';
import { subjectContract } from './decisions/record-contract.ts';
import { subjectHandlers } from './decisions/record-handlers.ts';
import { foldsContract } from './folds/contract.ts';
import { type FoldsDeps, foldsHandlers } from './folds/handlers.ts';
import { policiesContract } from './policies/contract.ts';
import { type PoliciesDeps, policiesHandlers } from './policies/handlers.ts';
import { queueContract } from './queue/contract.ts';
import { queueHandlers } from './queue/handlers.ts';
import { rewindContract } from './rewind/contract.ts';
import { rewindHandlers } from './rewind/handlers.ts';
import { moderatorSessionContract } from './staff/contract.ts';
import { type ModeratorSessionDeps, moderatorSessionHandlers } from './staff/handlers.ts';
import { statsContract } from './stats/contract.ts';
import { statsHandlers } from './stats/handlers.ts';
import { streamContract } from './stream/contract.ts';
import { type StreamDeps, streamHandlers } from './stream/handlers.ts';
import { viewsContract } from './views/contract.ts';
import { viewsHandlers } from './views/handlers.ts';

export type ModerationRoutesDeps = DecisionsDeps &
  ModeratorSessionDeps &
  PoliciesDeps &
  FoldsDeps &
  StreamDeps;

export const routes = (deps: ModerationRoutesDeps): readonly Routes[] => [
  implement(moderatorSessionContract, moderatorSessionHandlers(deps)),
  implement(queueContract, { ...queueHandlers(deps), ...claimHandlers(deps) }),
  implement(reviewContract, reviewHandlers(deps)),
  implement(subjectContract, subjectHandlers(deps)),
  implement(rewindContract, rewindHandlers(deps)),
  implement(commentsContract, commentHandlers(deps)),
  implement(policiesContract, policiesHandlers(deps)),
  implement(auditContract, auditHandlers(deps)),
  implement(statsContract, statsHandlers(deps)),
  implement(foldsContract, foldsHandlers(deps)),
  implement(viewsContract, viewsHandlers(deps)),
  implement(streamContract, streamHandlers(deps)),
];
