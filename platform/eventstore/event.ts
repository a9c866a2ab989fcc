import { z } from 'zod';

/**
 * Who caused an event. `service` is a worker or the service itself; `operator` acted on the command line.
 */
export const Actor = z.strictObject({
  type: z.enum(['member', 'moderator', 'service', 'guest', 'operator']),
  id: z.uuid().optional(),
});
export type Actor = z.infer<typeof Actor>;

/** Jobs, and the command line where no operator decides. */
export const SERVICE_ACTOR: Actor = { type: 'service' };

/**
 * An event type. `data` is permanent; `personal` (names, texts) may be erased to null later, and may
 * be null from the start where its schema is nullable.
 * `upcast` converts data of an older shape to the current one on every read: see `currentShape`.
 */
export interface EventType<
  Type extends string = string,
  Data extends z.ZodType = z.ZodType,
  Personal extends z.ZodType | null = z.ZodType | null,
> {
  type: Type;
  /** What happened, for readers of the log; docs/reference/events.md lists it. */
  summary: string;
  data: Data;
  personal: Personal;
  upcast?: (data: Record<string, unknown>) => Record<string, unknown>;
}

type Upcast = NonNullable<EventType['upcast']>;
const upcasts = new Map<string, Upcast>();

/** An event of the log in the current shape of its type. */
export function currentShape<Row extends { type: string; data: unknown }>(row: Row): Row {
  const upcast = upcasts.get(row.type);
  return upcast ? { ...row, data: upcast(row.data as Record<string, unknown>) } : row;
}

/** Defines an event type; without `personal`, its events hold no personal data. */
export function defineEvent<
  const Type extends string,
  Data extends z.ZodType,
  Personal extends z.ZodType | null = null,
>(
  type: Type,
  shape: {
    summary: string;
    data: Data;
    personal?: Personal;
    upcast?: Upcast;
  },
): EventType<Type, Data, Personal> {
  if (shape.upcast) upcasts.set(type, shape.upcast);
  return {
    type,
    summary: shape.summary,
    data: shape.data,
    personal: (shape.personal ?? null) as Personal,
    ...(shape.upcast ? { upcast: shape.upcast } : {}),
  };
}

/** What a decider returns: an event that has not been recorded yet. */
export type NewEvent<T extends EventType = EventType> =
  T extends EventType<infer Type, infer Data, infer Personal>
    ? {
        type: Type;
        data: z.infer<Data>;
        personal: Personal extends z.ZodType ? z.infer<Personal> | null : null;
      }
    : never;

/** An event in the log. `position` is 0 until the database assigns one. */
export type RecordedEvent<T extends EventType = EventType> = NewEvent<T> & {
  owner_id: string;
  stream_id: string;
  stream_version: number;
  position: number;
  event_id: string;
  actor: Actor;
  recorded_at: Date;
};

/** The event types of one module, by export name. */
export type EventTypes = Readonly<Record<string, EventType>>;

/** All event types by name. The constructor throws if two modules define the same type. */
export class EventCatalogue {
  readonly #types = new Map<string, EventType>();

  constructor(modules: readonly EventTypes[]) {
    for (const types of modules) {
      for (const event of Object.values(types)) {
        if (this.#types.has(event.type)) throw new Error(`event type ${event.type} defined twice`);
        this.#types.set(event.type, event);
      }
    }
  }

  get names(): string[] {
    return [...this.#types.keys()];
  }

  /** Throws if the event has an unknown type or does not match its schema, which is a bug. */
  check(event: NewEvent): void {
    const type = this.#known(event.type);
    type.data.parse(event.data);
    (type.personal ?? z.null()).parse(event.personal);
  }

  /** Converts a row of the log to the current shape of its event. Throws if its type is unknown. */
  read(row: RecordedEvent): RecordedEvent {
    if (!this.#types.has(row.type))
      throw new Error(`unknown event type ${row.type} at position ${row.position} of the log`);
    return currentShape(row);
  }

  #known(name: string): EventType {
    const type = this.#types.get(name);
    if (!type) throw new Error(`unknown event type ${name}`);
    return type;
  }
}
