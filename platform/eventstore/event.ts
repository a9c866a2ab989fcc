import { z } from 'zod';

/** Who did it. `service` is a worker or the service itself. */
export const Actor = z.strictObject({
  type: z.enum(['member', 'moderator', 'service', 'guest']),
  id: z.uuid().optional(),
});
export type Actor = z.infer<typeof Actor>;

/**
 * An event type: `data` is for ever, `personal` (names, texts) may be erased to null later.
 * `upcast` brings the data of an older shape to the present one when it is read.
 */
export interface EventType<
  Type extends string = string,
  Data extends z.ZodType = z.ZodType,
  Personal extends z.ZodType | null = z.ZodType | null,
> {
  type: Type;
  data: Data;
  personal: Personal;
  upcast?: (data: Record<string, unknown>) => Record<string, unknown>;
}

export function defineEvent<
  const Type extends string,
  Data extends z.ZodType,
  Personal extends z.ZodType | null = null,
>(
  type: Type,
  shape: {
    data: Data;
    personal?: Personal;
    upcast?: (data: Record<string, unknown>) => Record<string, unknown>;
  },
): EventType<Type, Data, Personal> {
  return {
    type,
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

/** An event as the log holds it. `position` is 0 until the database has given one. */
export type RecordedEvent<T extends EventType = EventType> = NewEvent<T> & {
  owner_id: string;
  stream_id: string;
  stream_version: number;
  position: number;
  event_id: string;
  actor: Actor;
  recorded_at: Date;
};

/** The events of one module, by name. */
export type EventTypes = Readonly<Record<string, EventType>>;

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

  /** Throws where the event is of no known type or does not fit its schema: that is a bug. */
  check(event: NewEvent): void {
    const type = this.#known(event.type);
    type.data.parse(event.data);
    if (type.personal === null ? event.personal !== null : event.personal === null)
      throw new Error(`${event.type}: personal part does not fit`);
    type.personal?.parse(event.personal);
  }

  /** A row of the log as an event of the present shape. */
  read(row: RecordedEvent): RecordedEvent {
    const type = this.#known(row.type);
    return type.upcast ? { ...row, data: type.upcast(row.data as Record<string, unknown>) } : row;
  }

  #known(name: string): EventType {
    const type = this.#types.get(name);
    if (!type) throw new Error(`unknown event type ${name}`);
    return type;
  }
}
