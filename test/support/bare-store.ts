import type pg from 'pg';
import { createEventStore } from '../../platform/eventstore/event-store.ts';
import { catalogue } from '../../services/features.ts';

/** A store on a pool of the test, without read models, feeds and jobs. */
export const createBareStore = (pool: pg.Pool, url: string) =>
  createEventStore({
    pool,
    url,
    catalogue,
    project: () => [],
    affectedMembers: () => [],
    mayOwn: () => true,
    enqueue: () => Promise.reject(new Error('no jobs')),
  });
