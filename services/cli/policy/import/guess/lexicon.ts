/**
 * What words in names of tools mean, as data. A word stands here for what most tools do that are
 * called so; what a word leaves open is `unsure` and treated as a write.
 */

/** `unsure`: the word alone does not say whether the tool reads. */
export type VerbClass =
  | "read"
  | "likely read"
  | "unsure"
  | "create"
  | "update"
  | "delete"
  | "send"
  | "charge"
  | "grant"
  | "run"
  | "touch";

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/**
 * Verbs by what they do. `touch` acts on a screen or page, where equal calls are ordinary; `run`
 * does whatever its arguments say.
 */
const VERBS_BY_CLASS: Readonly<Record<VerbClass, readonly string[]>> = {
  read: words(`get list search find read fetch lookup query describe show view browse retrieve
    inspect count ls cat grep glob whoami scrape peek enumerate stat tail diff geocode explain
    summarize summarise`),
  "likely read": words(`check verify validate calculate compute estimate compare preview
    simulate quote analyze analyse translate detect classify predict recommend suggest parse
    extract map crawl track identify lint screenshot snapshot echo ping is has can which look
    discover locate scan download recall lookup examine measure rank filter match poll watch wait
    aggregate collect observe review evaluate assess forecast determine answer recognize
    recognise divide multiply subtract round square logarithm power mean max min sum percentage
    absolute`),
  unsure: words(`open load resolve generate export plan test select monitor navigate goto go visit
    hover sync refresh process handle manage do use perform research interact convert
    setup`),
  create: words(`create add insert new make register draft write save upload store put append
    attach import clone copy duplicate fork generate build provision allocate init initialize
    reserve hold book order give open signup backup request submit file log record enroll enrol schedule compose mint
    rent hire apply enqueue place collect subscribe follow bookmark star like upvote retweet react
    comment tag label mkdir touch echo`),
  update: words(`update edit modify set change rename move patch replace upsert assign unassign
    mark toggle enable disable activate deactivate pause resume start stop restart reboot close
    reopen complete resolve merge rebase commit push pull checkout configure adjust increase
    decrease lock turn switch approve reject accept decline respond confirm archive unarchive
    restore transition prioritize promote demote link unlink connect disconnect pin unpin
    mute unmute snooze acknowledge ack escalate reschedule extend renew rotate reset rollback undo
    redo swap sort reorder arrange flag categorise categorize scale deploy dispatch release
    republish install upgrade uninstall unsubscribe unfollow save block unblock suspend fill
    exchange return sync dim arm disarm silence checkin logout shutdown optin optout turn`),
  delete: words(`delete remove drop destroy purge wipe erase clear trash cancel void revoke
    terminate truncate unregister deregister dismiss discard evict rm rmdir kill abort empty
    retire uninstall cleanup clean expire invalidate detach`),
  send: words(`send post reply notify message email mail sms call page broadcast publish announce
    tweet forward share invite remind alert dm whisper text submit contact nudge fax`),
  charge: words(`pay charge refund transfer wire bill invoice withdraw deposit donate tip purchase
    buy sell checkout payout topup fund disburse reimburse remit capture`),
  grant: words(`grant allow authorize authorise permit unlock impersonate elevate promote
    login authenticate`),
  run: words(`run execute exec eval evaluate invoke call trigger launch spawn shell bash script
    command delegate`),
  touch: words(`click press type scroll drag drop tap swipe focus keyboard keypress hotkey back
    forward fill hover`),
};

/** Where a word is in several classes, the first of these counts. */
const CLASS_ORDER: readonly VerbClass[] = [
  "delete",
  "charge",
  "send",
  "grant",
  "touch",
  "run",
  "unsure",
  "update",
  "create",
  "read",
  "likely read",
];

export const VERBS: ReadonlyMap<string, VerbClass> = new Map(
  CLASS_ORDER.toReversed().flatMap((name) =>
    VERBS_BY_CLASS[name].map((word): [string, VerbClass] => [word, name]),
  ),
);

/** What a verb does if its tool writes: also of verbs that alone leave open whether it does. */
export const WRITES: ReadonlyMap<string, VerbClass> = new Map(
  CLASS_ORDER.filter((name) => name !== "unsure" && !name.endsWith("read"))
    .toReversed()
    .flatMap((name) => VERBS_BY_CLASS[name].map((word): [string, VerbClass] => [word, name])),
);

/** Verbs of two words, which count as one. */
export const COMPOUNDS: ReadonlySet<string> = new Set(
  words(`checkin checkout login logout signup signin topup rollback shutdown setup optin optout
    backup`),
);

/** Words that make a tool a write wherever they are in its name: no noun is called so. */
export const WRITES_ANYWHERE: ReadonlySet<string> = new Set(
  words(`create update delete remove send add insert modify edit cancel upsert write rename move
    clear reset enable disable toggle approve reject assign save upload import publish install
    uninstall purge execute invoke mark set pay charge refund append drop push merge revoke grant
    archive close submit put patch replace trigger run apply`),
);

/**
 * Verbs that are as often nouns: beside a plain verb they say what it is about (`message_get`,
 * `file_read`).
 */
export const NOUN_LIKE: ReadonlySet<string> = new Set(
  words(`message page file email mail comment order book record note log invoice report review issue
    text state test command schedule request contact draft`),
);

/** Words of `WRITES_ANYWHERE` that a name may speak of after a plain reading verb: `get_job_run`. */
export const WRITES_AS_NOUNS: ReadonlySet<string> = new Set(
  words(`run set submit import upload archive patch merge push charge refund trigger close grant move
    install publish update reset drop mark pay`),
);

/** Questions: what follows is what is asked about (`can_send_mms`). */
export const QUESTIONS: ReadonlySet<string> = new Set(words("can is has which"));

/** Verbs that say nothing about reading when a description begins with them. */
export const UNTOLD_BY_DESCRIPTION: ReadonlySet<string> = new Set(
  words("simulate test echo wait power square round map match watch"),
);

/** Last words of names without a verb that say what the answer is. */
export const READ_NOUNS: ReadonlySet<string> = new Set(
  words(`status history details detail info information list count statistics stats metrics logs
    log preview balance balances forecast weather directions elevation matrix summary overview
    schema definitions version health availability usage quote quotes price prices rates rate currency units timezone distance
    conversion calculator dictionary wiki knowledge slots
    suggestions results search lookup query diff report changelog profile progress time date
    contents content tree page`),
);

/** Reads whose answer changes while nothing is written: calls of them wait for something. */
export const POLLED_NOUNS: ReadonlySet<string> = new Set(
  words("status progress state job rollout run build deployment task export operation tracking"),
);

/** Reads that answer anew each time. */
export const VOLATILE_NOUNS: ReadonlySet<string> = new Set(
  words("time now date random screenshot snapshot weather traffic price quote clock page tabs"),
);

/**
 * Names that look like reads and are none, tested on the name's words joined by blanks. Each says
 * why.
 */
export const NOT_READS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:get|find|fetch|read|check) (?:or|and) \w+/, "it does a second thing"],
  [
    /\b(?:and|or|then) (?:create|delete|remove|update|send|save|mark|insert|add)\b/,
    "it also writes",
  ],
  [/^mark\b/, "it sets a mark"],
  [/^check off\b/, "it does not check, it acts"],
  [
    /^(?:track|map|watch|filter|match|review|record|log) .*\b(?:event|click|conversion|usage|start|create)$/,
    "it records",
  ],
  [/^(?:search|query|find|list|read) (?:feedback|rating|replace)$/, "it sends something"],
  [/\b(?:and|or) replace\b|\breplace\b/, "it replaces"],
  [
    /^(?:pull|pop|claim|take|dequeue|consume|acquire|receive|lease|next)\b/,
    "it takes what it reads",
  ],
  [/\bunread\b/, "what is read may be marked so"],
];

/** Nouns that say what a generic verb (`create`, `issue`, `run`, `give`) does. */
export const NOUN_CLASSES: ReadonlyMap<string, "charge" | "send" | "grant"> = new Map([
  ...words(`payment payments refund refunds transfer transfers payout payouts payroll bonus charge
    credit deposit withdrawal purchase donation debit money funds transaction gift checkout
    reimbursement`).map((word): [string, "charge"] => [word, "charge"]),
  ...words(`message messages email emails mail comment reply sms notification tweet review letter
    invitation invite reminder announcement dm post broadcast fax`).map(
    (word): [string, "send"] => [word, "send"],
  ),
  ...words(`role permission permissions access collaborator member beneficiary key token credential
    credentials secret policy admin owner grant`).map((word): [string, "grant"] => [word, "grant"]),
]);

/** Things that take much along that others own: to delete one is held for a person. */
export const CONTAINERS: ReadonlySet<string> = new Set(
  words(`account accounts database databases repository repositories repo project workspace
    organization organisation tenant bucket cluster namespace collection table schema volume
    backup backups environment employee user users customer server vm instance domain zone`),
);

/** Deleting verbs that leave nothing, whatever they are called on. */
export const DESTROYS: ReadonlySet<string> = new Set(
  words("drop destroy purge wipe erase truncate terminate cleanup"),
);
