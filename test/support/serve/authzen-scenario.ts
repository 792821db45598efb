// The cases of "AuthZEN Authorization API 1.0 - Certification Scenario" (openid/authzen, 2026), for the
// levels Basic, Batch and Discovery; the ids are those of the scenario.

const alice = { type: "user", id: "alice" };
const bob = { type: "user", id: "bob" };
const admin = { ...bob, properties: { role: "admin" } };
const read = { name: "read" };
const write = { name: "write" };
const record1 = { type: "record", id: "record-1" };
const record2 = { type: "record", id: "record-2" };
const active = { ...record1, properties: { status: "active" } };
const archived = { ...record2, properties: { status: "archived" } };
const context = { time: "2025-06-27T18:03-07:00", ip: "192.168.1.1" };
const remove = (soft: boolean) => ({ name: "delete", properties: { soft } });
const aliceReads = { subject: alice, action: read, resource: record1 };

export const ALICE_READS = aliceReads;

type Case = readonly [id: string, request: object, decision: boolean];

/** c-2-2: one evaluation. */
export const EVALUATIONS: readonly Case[] = [
  ["c-2-2-1", aliceReads, true],
  ["c-2-2-2", { subject: bob, action: write, resource: record1 }, false],
  ["c-2-2-3", { ...aliceReads, context }, true],
  ["c-2-2-4", { subject: alice, action: write, resource: archived }, false],
  ["c-2-2-5", { subject: admin, action: write, resource: archived }, true],
  ["c-2-2-6", { subject: alice, action: remove(true), resource: record1 }, true],
  ["c-2-2-7", { subject: alice, action: remove(false), resource: record1 }, false],
  [
    "c-2-2-8",
    {
      subject: { ...alice, properties: { department: "Sales", role: "manager" } },
      action: { ...read, properties: { method: "GET" } },
      resource: { ...record1, properties: { status: "active", owner: "bob" } },
    },
    true,
  ],
  ["c-2-2-9", { ...aliceReads, foo: "bar", futureField: { nested: true } }, true],
  ["c-1-4 rule 2", { subject: alice, action: write, resource: record1 }, true],
  ["c-1-4 rule 3", { subject: bob, action: read, resource: record1 }, true],
];

/** c-2-4: requests that are answered with 400. */
export const MALFORMED: readonly (readonly [string, object])[] = [
  ["c-2-4-1 subject", { action: read, resource: record1 }],
  ["c-2-4-1 action", { subject: alice, resource: record1 }],
  ["c-2-4-1 resource", { subject: alice, action: read }],
  ["c-2-4-2 subject.type", { ...aliceReads, subject: { id: "alice" } }],
  ["c-2-4-2 subject.id", { ...aliceReads, subject: { type: "user" } }],
  ["c-2-4-2 action.name", { ...aliceReads, action: {} }],
  ["c-2-4-2 resource.type", { ...aliceReads, resource: { id: "record-1" } }],
  ["c-2-4-2 resource.id", { ...aliceReads, resource: { type: "record" } }],
  ["c-2-4-6 subject", { ...aliceReads, subject: "alice" }],
  ["c-2-4-6 action.name", { ...aliceReads, action: { name: 123 } }],
];

/** c-3: several evaluations; null: the fixture says nothing about it. */
export const BATCHES: readonly (readonly [string, object, readonly (boolean | null)[]])[] = [
  [
    "c-3-2-1",
    { subject: alice, action: read, evaluations: [{ resource: record1 }, { resource: record2 }] },
    [true, null],
  ],
  [
    "c-3-2-2",
    { subject: bob, resource: record1, evaluations: [{ action: read }, { action: write }] },
    [true, false],
  ],
  [
    "c-3-2-3",
    { subject: alice, action: write, evaluations: [{ resource: active }, { resource: archived }] },
    [true, false],
  ],
  [
    "c-3-2-4",
    { action: write, resource: archived, evaluations: [{ subject: alice }, { subject: admin }] },
    [false, true],
  ],
  [
    "c-3-2-5",
    { evaluations: [aliceReads, { subject: bob, action: write, resource: record1 }] },
    [true, false],
  ],
  [
    "c-3-2-6",
    {
      ...{ subject: alice, action: read, context: { time: "2025-06-27T18:03-07:00" } },
      evaluations: [
        { resource: record1 },
        { resource: record2, context: { time: "2025-06-27T19:00-07:00", source: "override" } },
      ],
    },
    [true, null],
  ],
  [
    "c-3-2-7",
    { subject: alice, action: write, resource: active, evaluations: [{}, { resource: archived }] },
    [true, false],
  ],
  [
    "c-3-4-1",
    {
      ...{ subject: alice, action: read, options: { evaluations_semantic: "execute_all" } },
      evaluations: [{ resource: record1 }, {}],
    },
    [true, false],
  ],
  [
    "deny on first deny",
    {
      ...{
        subject: bob,
        resource: record1,
        options: { evaluations_semantic: "deny_on_first_deny" },
      },
      evaluations: [{ action: read }, { action: write }, { action: read }],
    },
    [true, false],
  ],
  [
    "permit on first permit",
    {
      ...{ subject: bob, resource: record1 },
      options: { evaluations_semantic: "permit_on_first_permit" },
      evaluations: [{ action: write }, { action: read }, { action: read }],
    },
    [false, true],
  ],
];
