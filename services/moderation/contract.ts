import { defineContract } from '../../platform/http/route.ts';
import { reviewContract } from './decisions/contract.ts';
import { subjectContract } from './decisions/record-contract.ts';
import { queueContract } from './queue/contract.ts';

export const moderationContract = defineContract({
  ...queueContract,
  ...reviewContract,
  ...subjectContract,
});
