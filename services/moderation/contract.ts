import { defineContract } from '../http/route.ts';
import { queueContract } from './queue-contract.ts';
import { reviewContract } from './review-contract.ts';
import { subjectContract } from './subject-contract.ts';

export const moderationContract = defineContract({
  ...queueContract,
  ...reviewContract,
  ...subjectContract,
});
