import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../../services/core/canonical/json-value.ts";
import { compilePolicy } from "../../../../services/core/policy/compile-policy.ts";
import type {
  PolicyDocument,
  ToolDocument,
  VariantsDocument,
} from "../../../../services/core/policy/document.ts";
import { toolOfCall } from "../../../../services/core/policy/tool-of-call.ts";
import { capabilities, compiled } from "../../../support/core/compile.ts";
import { MINUTE } from "../../../support/decider-spec.ts";

const TIERS: NonNullable<PolicyDocument["authorization"]> = {
  tiers: [
    { name: "free", pattern: "nothing", action: "allowlist" },
    { name: "ask", pattern: "no-one", action: "hitl", expires_ms: MINUTE },
    { name: "never", pattern: "nobody", action: "deny" },
  ],
};

function policy(variants: VariantsDocument, more: ToolDocument = {}): PolicyDocument {
  return { authorization: TIERS, tool_schemas: { bash: { ...more, variants }, edit: {} } };
}

const SHELL = policy({ set: "posix_shell" });

describe("the variant of a call", () => {
  const classOf = (variants: VariantsDocument, args: Record<string, string>) => {
    const tool = toolOfCall(compiled(policy(variants)), "bash", args);
    return [tool.variant, tool.isRead, tool.volatile, tool.repeatable];
  };

  test.each([
    ["cat /a", ["read", true, false, false]],
    ["ls", ["watch", true, true, false]],
    ["pytest", ["run", false, false, true]],
    ["rm a", ["write", false, false, false]],
    ["cat 'a", ["write", false, false, false]],
  ])("of a shell: %s", (command, expected) => {
    expect(classOf({ set: "posix_shell" }, { command })).toEqual(expected);
  });

  test("is a write where the argument is missing or no text", () => {
    expect(classOf({ set: "posix_shell" }, {})[0]).toBe("write");
    const tool = toolOfCall(compiled(SHELL), "bash", { command: ["ls"] });
    expect(tool.isRead).toBe(false);
  });

  test("takes the argument's default of the schema", () => {
    const http: ToolDocument = {
      variants: { set: "http" },
      input_schema: { type: "object", properties: { method: { type: "string", default: "GET" } } },
    };
    const tool = compiled({ tool_schemas: { fetch: http } });
    expect(toolOfCall(tool, "fetch", {}).isRead).toBe(true);
    expect(toolOfCall(tool, "fetch", { method: "PUT" }).isRead).toBe(false);
  });

  test("is found in another argument, at any depth", () => {
    const sql = { set: "sql", argument: "body.statement" } as const;
    const tool = compiled(policy(sql));
    expect(toolOfCall(tool, "bash", { body: { statement: "select 1" } }).variant).toBe("read");
    expect(toolOfCall(tool, "bash", { query: "select 1" }).variant).toBe("write");
    expect(classOf({ set: "git" }, { command: "log -3" })[0]).toBe("read");
  });
});

describe("rules", () => {
  const rules: VariantsDocument = {
    set: "posix_shell",
    classes: { write: { tier: "ask" }, read: { tier: "free" } },
    rules: [
      { match: "^rm\\b.* -\\w*r", tier: "never" },
      { match: "^deploy ", risk_level: "HIGH", effects: [{ resource: "release", kind: "send" }] },
      { like: "git push*", tier: "ask", suggest: ["edit"] },
    ],
  };
  const of = (command: string) => toolOfCall(compiled(policy(rules)), "bash", { command });

  test.each([
    ["cat /a", "free", "read"],
    ["pytest", null, "run"],
    ["rm a", "ask", "write"],
    ["rm -rf a", "never", "rule 1"],
    ["deploy web", "ask", "rule 2"],
    ["git push origin", "ask", "rule 3"],
  ])("%s: tier %s", (command, tier, variant) => {
    expect([of(command).tier.name, of(command).variant]).toEqual([tier, variant]);
  });

  test("a line of several commands is as strict as its strictest", () => {
    expect(of("cat /a && rm b").tier.name).toBe("ask");
    expect(of("cat /a; pytest | tail -3; rm -rf b; ls").tier.name).toBe("never");
    expect(of("rm b && cat /a").variant).toBe("write");
    expect(of("echo $(rm -r x)").tier.name).toBe("never");
  });

  test("of two commands that are as strict the first says what the line is", () => {
    expect(of("rm a && git push origin").variant).toBe("write");
    expect(of("git push origin && rm a").variant).toBe("rule 3");
  });

  test("without tiers the class of the strictest command is that of the line", () => {
    const commands = [
      ["cat /a", "read"],
      ["tail -f /b", "watch"],
      ["date", "watch"],
      ["pytest", "run"],
      ["rm a", "write"],
    ] as const;
    const variant = (command: string) =>
      toolOfCall(compiled(policy({ set: "posix_shell" })), "bash", { command }).variant;
    for (const [at, [weak]] of commands.entries()) {
      for (const [strict, expected] of commands.slice(at)) {
        expect(variant(`${weak} && ${strict}`)).toBe(expected);
        expect(variant(`${strict} && ${weak}`)).toBe(expected);
      }
    }
  });

  test.each(["rm /a && cat /b", "cat /b && rm /a", "cat /b; pytest; rm /a"])(
    "what a tier asks of a read is asked of the line, which is the write that it holds: %s",
    (command) => {
      const tiers: PolicyDocument["authorization"] = {
        tiers: [{ name: "counted", pattern: "nothing", action: "allowlist" }],
      };
      const variants: VariantsDocument = {
        set: "posix_shell",
        classes: { read: { tier: "counted" }, run: { tier: "counted" } },
      };
      const tool = toolOfCall(
        compiled({ authorization: tiers, tool_schemas: { bash: { variants } } }),
        "bash",
        { command },
      );
      expect([tool.tier.name, tool.isRead, tool.repeatable]).toEqual(["counted", false, false]);
    },
  );

  test("what one command may not repeat, the line may not", () => {
    const variants: VariantsDocument = {
      set: "posix_shell",
      classes: { run: { tier: "ask" } },
    };
    const shell = compiled(policy(variants));
    const tool = (command: string) => toolOfCall(shell, "bash", { command });
    expect([tool("pytest").tier.name, tool("pytest").repeatable]).toEqual(["ask", true]);
    const line = tool("pytest && rm a");
    expect([line.tier.name, line.repeatable, line.variant]).toEqual(["ask", false, "run"]);
    expect(line.ruleDigest).toBe(tool("pytest").ruleDigest);
    expect(tool("pytest && rm a")).toBe(line);
  });

  test.each([
    ["cat /a$; rm /b", "write"],
    ["echo 5$ ; rm b", "write"],
    ["cat /a$ /b", "read"],
  ])("a dollar that names nothing is itself: %s", (command, expected) => {
    const shell = compiled(policy({ set: "posix_shell" }));
    expect(toolOfCall(shell, "bash", { command }).variant).toBe(expected);
  });

  test.each([
    "sudo deploy web",
    "/deploy web",
    "env A=1 deploy web",
    "nohup deploy web",
    "timeout -k 5 10 deploy web",
    "bash -lc 'cd /r && deploy web'",
    "eval deploy web",
    "echo web | xargs deploy",
    "find . -name web -exec deploy {} +",
    "/opt/bin/deploy web",
    "./deploy web",
    "taskset 0x3 deploy web",
    "taskset -ac 0-3,5 deploy web",
    "chroot --userspec=a:b /jail deploy web",
    "chroot --groups a /jail deploy web",
    "unshare -rn --mount-proc --wd /w deploy web",
    "strace -f -o /tmp/out -e trace=file deploy web",
    "strace -ffo /tmp/out -s200 deploy web",
    "flock -w 5 /tmp/lock deploy web",
    "flock --timeout=5 -n /tmp/lock deploy web",
    "flock /tmp/lock -c 'cd /r && deploy web'",
    "watch -tn 5 deploy web",
    "watch -d -n1 'cat a; deploy web'",
    "watch -x -n 2 deploy web",
    "script -q /dev/null -c 'deploy web'",
    "script -qc 'deploy web' log",
    "script --command='deploy web'",
    "ssh host deploy web",
    "ssh -tt -p 22 -i key -oBatchMode=yes me@host -v 'cd /r && deploy web'",
    "parallel deploy ::: web",
    "ls | parallel -j4 --bar 'cat {}; deploy {}'",
  ])("are also about the commands that a command runs: %s", (command) => {
    expect([of(command).tier.name, of(command).variant]).toEqual(["ask", "rule 2"]);
  });

  test.each([
    'bash -c "$LINE"',
    "sudo -u root rm a",
    "cat a | sh",
    "su -c 'rm -rf a'",
    "strace -o '|deploy web' ls",
    "strace --output='!deploy web' ls",
    "strace --unknown ls",
    "taskset -p 3 7",
    "echo deploy web | chroot /jail",
    "echo deploy web | unshare -n",
    "flock /tmp/lock -c",
    "flock $LOCK ls",
    "watch $LINE",
    "watch -x $LINE",
    "echo deploy web | script log",
    "script -q /dev/null deploy web",
    'script -c "$LINE"',
    "echo deploy web | ssh host",
    "ssh $HOST ls",
    'ssh host "$LINE"',
    "ssh -o ProxyCommand='deploy web' host ls",
    "echo deploy web | parallel",
    "parallel ::: 'deploy web'",
    "parallel {} ::: 'deploy web'",
    "parallel sh -c {} ::: 'deploy web'",
    "parallel --rpl x ls ::: a",
  ])("any may be about what cannot be seen: %s", (command) => {
    expect(of(command).tier.name).toBe("never");
  });

  test.each([
    "ssh host uptime",
    "ssh -N -L 80:a:80 host",
    "ssh -V",
    "strace -p 7",
    "strace -c make",
    "flock 9",
    "watch -n 5 date",
    "taskset -c 0 make",
    "chroot /jail make",
    "unshare -r make",
    "script -c make log",
    "parallel pytest ::: a b",
    "parallel --version",
  ])("are not about what runs something else in sight: %s", (command) => {
    expect([of(command).tier.name, of(command).variant]).toEqual([of("make").tier.name, "run"]);
  });

  test.each([
    "time ! deploy web",
    "time -p -- time ! deploy web",
    "time A=1 deploy web",
    "time -p A=1 B=2 deploy web",
    "time until deploy web; do :; done",
    "time { deploy web; }",
    "sh -c 'time ! deploy web'",
    "ls; time ! deploy web | cat",
  ])("are about what `time` measures, which is the start of a command: %s", (command) => {
    expect([of(command).tier.name, of(command).variant]).toEqual(["ask", "rule 2"]);
  });

  test.each([
    "time coproc deploy web",
    "time function f { deploy web; }",
    "time$X A=1 ls",
    "time -v ! deploy web",
    "nohup A=1 deploy web",
    "nice until deploy web",
  ])("any may be about a word that no program is called by: %s", (command) => {
    expect(of(command).tier.name).toBe("never");
  });

  test.each([
    ["cat a > b", "write", false],
    ["LD_PRELOAD=a cat b", "run", false],
    ["cat a &", "run", false],
    ["sudo cat a", "rule 1", true],
    ["cat a", "rule 1", true],
  ])("say nothing of what the words do not show: %s", (command, variant, isRead) => {
    const variants: VariantsDocument = {
      set: "posix_shell",
      rules: [{ like: "cat *|sudo cat *", read_only: true }],
    };
    const tool = toolOfCall(compiled(policy(variants)), "bash", { command });
    expect([tool.variant, tool.isRead]).toEqual([variant, isRead]);
  });

  describe("of git", () => {
    const git = compiled(
      policy({
        set: "git",
        classes: { read: { tier: "free" } },
        rules: [
          { match: "^push( |$)", tier: "ask" },
          { match: "^git gc( |$)", tier: "ask" },
          { match: "^-C /prod ", tier: "ask" },
          { equals: ['commit -m "a b"'], tier: "free" },
          { equals: ["commit -m a b"], tier: "never" },
          { match: "^never", tier: "never" },
        ],
      }),
    );
    const tier = (command: string) => toolOfCall(git, "bash", { command }).tier.name;

    test.each([
      "push origin",
      " push origin",
      "'push' origin",
      "pu\\sh origin",
      "push\torigin",
      "git push origin",
      "git  push",
      "-C /x push origin",
      "--no-pager push",
      "--git-dir=/x/.git -C $DIR push",
      "--git-dir /x/.git push",
      "-c user.name=a push",
      "gc",
      "git -P gc --auto",
      " -C  /prod fetch",
    ])("see the command in any spelling: %j", (command) => {
      expect(tier(command)).toBe("ask");
    });

    test.each([
      "-c alias.p=push p",
      "-c Alias.p=push p",
      "-c include.path=/x p",
      '-c "$X" p',
      "--config-env=alias.p=P p",
      "--exec-path=/x log",
      "-C {/x,push} origin",
      "-C",
      "--bare$X log",
      "$X origin",
      "git$X log",
      "/usr/bin/git push",
      "status; git push",
      "log\npush",
      "log > a",
      "A=1 log",
      "log &",
      "log 'a",
    ])("may all be about what is no single command in plain sight: %j", (command) => {
      expect(tier(command)).toBe("never");
    });

    test.each([
      ["log --oneline -3", "free"],
      ["git -C /x log 'a b'", "free"],
      ["fetch origin", null],
      ["log push", "free"],
      ["pushy origin", null],
    ])("leave other commands to their class: %s", (command, expected) => {
      expect(tier(command)).toBe(expected);
    });

    test("count with the strictest of the spellings that they know", () => {
      expect(tier('commit -m "a b"')).toBe("never");
      expect(tier('commit -m "a  b"')).toBeNull();
    });
  });

  test("know a method by any spelling, and the one that a header asks for", () => {
    const variants: VariantsDocument = {
      set: "http",
      rules: [{ equals: ["DELETE"], tier: "ask" }],
    };
    const tier = (args: JsonObject) => {
      const tool = toolOfCall(compiled(policy(variants)), "bash", args);
      return [tool.tier.name, tool.isRead];
    };
    expect(tier({ method: "DELETE" })).toEqual(["ask", false]);
    expect(tier({ method: " delete" })).toEqual(["ask", false]);
    expect(tier({ method: "GET", headers: { Accept: "x" } })).toEqual([null, true]);
    const asks = [
      { headers: { "X-HTTP-Method-Override": "DELETE" } },
      { headers: [{ "x-method-override": "delete" }] },
      { headers: ["Accept: x", "X-HTTP-Method: DELETE"] },
      { headers: "Accept: x\r\nx-http-method-override: delete" },
      { url: "https://a.example/b?c=d&_method=DELETE" },
      { params: { _method: "delete" } },
    ];
    for (const more of asks) {
      expect(tier({ method: "GET", ...more })).toEqual(["ask", false]);
      expect(tier({ method: "POST", ...more })).toEqual(["ask", false]);
    }
    expect(tier({ method: "GET", body: { payment_method: "DELETE" } })).toEqual([null, true]);
  });

  test("any may be about an argument that is no text", () => {
    for (const command of [["deploy", "web"], 7, { line: "deploy web" }]) {
      const tool = toolOfCall(compiled(policy(rules)), "bash", { command });
      expect(tool.tier.name).toBe("never");
    }
    // What is not there may be under another name.
    expect(toolOfCall(compiled(policy(rules)), "bash", {}).tier.name).toBe("never");
    expect(toolOfCall(compiled(policy(rules)), "bash", { cmd: "ls" }).tier.name).toBe("never");
    const meta: VariantsDocument = {
      argument: "tool_name",
      rules: [{ equals: ["restart"], tier: "ask" }],
    };
    const chosen = (value: JsonValue) =>
      toolOfCall(compiled(policy(meta)), "bash", { tool_name: value }).tier.name;
    expect([chosen(["restart"]), chosen("other"), chosen(null)]).toEqual(["ask", null, "ask"]);
    const said = policy({ ...meta, otherwise: { read_only: true } });
    expect(toolOfCall(compiled(said), "bash", {})).toMatchObject({ isRead: true });
    expect(toolOfCall(compiled(said), "bash", { tool_name: null }).tier.name).toBe("ask");
  });

  describe("of SQL", () => {
    const sql = compiled(
      policy({
        set: "sql",
        argument: "query",
        classes: { write: { tier: "ask" } },
        rules: [
          { match: "^INSERT INTO logs\\b|INTO audit", tier: "free" },
          { match: "^DROP", tier: "never" },
          { match: "secrets", tier: "never" },
        ],
      }),
    );
    const tier = (query: string) => toolOfCall(sql, "bash", { query }).tier.name;

    test.each([
      ["INSERT INTO logs VALUES (1)", "free"],
      ["INSERT INTO logs VALUES (1);", "free"],
      ["INSERT INTO logs VALUES ('a; b')", "free"],
      ["INSERT INTO logs VALUES (1); INSERT INTO logs VALUES (2);", "free"],
      ["INSERT INTO logs VALUES ('a\\n')", "free"],
      ["INSERT INTO logs VALUES (1); select 1", "free"],
      ["INSERT INTO logs VALUES (1); DELETE FROM t", "ask"],
      ["DELETE FROM t; INSERT INTO audit VALUES (1)", "ask"],
      ["INSERT INTO logs VALUES (1); DROP TABLE x", "never"],
      ["select 1; /* c */ DROP TABLE x", "never"],
      ["INSERT INTO logs VALUES ($$a; DROP TABLE x; $$)", "never"],
      ["INSERT INTO logs VALUES (1); DELETE FROM secrets", "never"],
      ["INSERT INTO logs VALUES (1); SELECT 1 /* ; secrets */", "never"],
      ["INSERT INTO logs VALUES ('\\'); DELETE FROM t; --'", "never"],
    ])("count for each statement of a text: %s", (query, expected) => {
      expect(tier(query)).toBe(expected);
    });

    test.each(["  DROP TABLE x", "/* c */ DROP TABLE x", "-- c\nDROP TABLE x;", "; DROP TABLE x"])(
      "know a statement without what is around it: %j",
      (query) => {
        expect(tier(query)).toBe("never");
      },
    );

    test("are looked up for so many statements, and all count for one more", () => {
      const inserts = (count: number) =>
        Array.from({ length: count }, (_, at) => `INSERT INTO logs VALUES (${at})`).join(";");
      expect([1_024, 1_025].map((count) => tier(inserts(count)))).toEqual(["free", "never"]);
    });
  });

  describe("about names of tools", () => {
    const action = (variants: VariantsDocument, name: string) =>
      toolOfCall(compiled(policy({ argument: "tool_name", ...variants })), "bash", {
        tool_name: name,
      }).tier.action;

    test.each(["delete_x", "github/delete_x", "github__delete_x", "github.delete_x"])(
      "hold one under any namespace, by their tier and by their risk: %s",
      (name) => {
        expect(action({ rules: [{ like: "delete_*", tier: "ask" }] }, name)).toBe("hitl");
        expect(action({ rules: [{ like: "delete_*", risk_level: "HIGH" }] }, name)).toBe("hitl");
      },
    );

    test("let none under a namespace evade what holds the rest", () => {
      const variants: VariantsDocument = {
        rules: [
          { like: "get_*", risk_level: "LOW" },
          { like: "list_*", risk_level: "HIGH" },
        ],
        otherwise: { tier: "never" },
      };
      const names = ["get_x", "github/get_x", "list_x", "github/list_x"];
      expect(names.map((name) => action(variants, name))).toEqual([
        "allow",
        "deny",
        "hitl",
        "deny",
      ]);
    });

    test("are about whole commands where there is a set", () => {
      const variants: VariantsDocument = {
        set: "posix_shell",
        argument: "tool_name",
        rules: [{ like: "deploy*", risk_level: "HIGH" }],
      };
      expect(action(variants, "deploy web")).toBe("hitl");
      expect(action(variants, "cat infra/deploy.yaml")).toBe("allow");
    });

    test.each([
      ["posix_shell", "cat infra/deploy.yaml"],
      ["posix_shell", "curl https://a.example/deploy"],
      ["posix_shell", "ls a.deploy"],
      ["posix_shell", "python my__deploy"],
      ["git", "log a:deploy"],
      ["sql", "select 'a/deploy'"],
    ] as const)("of %s are about whole texts where they name a tier: %s", (set, text) => {
      const rules = [{ like: "deploy*", tier: "ask" }];
      expect(action({ set, argument: "tool_name", rules }, text)).toBe("allow");
      expect(action({ set, argument: "tool_name", rules }, "deploy web")).toBe("hitl");
    });
  });

  test("a line that cannot be read may hold what any rule is about", () => {
    expect(of("echo 'open").tier.name).toBe("never");
    expect(of("$COMMAND x").tier.name).toBe("never");
  });

  test("without a set, what no rule knows is a write; `otherwise` says more of it", () => {
    const meta: VariantsDocument = {
      argument: "tool_name",
      rules: [
        { like: "get_*|list_*", read_only: true },
        { equals: ["restart", "stop"], tier: "ask" },
      ],
    };
    const variant = (name: string, more: Partial<VariantsDocument> = {}) => {
      const tool = toolOfCall(compiled(policy({ ...meta, ...more })), "bash", { tool_name: name });
      return [tool.isRead, tool.tier.name];
    };
    expect(variant("get_user")).toEqual([true, null]);
    expect(variant("stop")).toEqual([false, "ask"]);
    expect(variant("delete_user")).toEqual([false, null]);
    expect(variant("delete_user", { otherwise: { tier: "never" } })).toEqual([false, "never"]);
  });
});

describe("what does not compile is named by its path", () => {
  test.each<readonly [VariantsDocument, string]>([
    [{ rules: [{ equals: ["a"] }] }, ""],
    [{ set: "sql", rules: [{ match: "(" }] }, ".rules[0].match"],
    [{ set: "sql", rules: [{ read_only: true }] }, ".rules[0]"],
    [{ set: "sql", classes: { read: { tier: "no" } } }, ".classes.read.tier"],
    [{ set: "sql", rules: [{ match: "a", tier: "no" }] }, ".rules[0].tier"],
    [{ set: "sql", otherwise: { tier: "no" } }, ".otherwise.tier"],
    [
      { set: "sql", classes: { write: { effects: [{ resource: "{", kind: "send" }] } } },
      ".classes.write.effects[0].resource",
    ],
    [
      { set: "sql", rules: [{ match: "a", effects: [{ resource: "}", kind: "send" }] }] },
      ".rules[0].effects[0].resource",
    ],
  ])("%j: %s", (variants, path) => {
    const result = compilePolicy(policy(variants), capabilities, { revision: "r", keyId: "k" });
    expect(result.ok ? [] : result.problems.map((problem) => problem.path)).toEqual([
      `tool_schemas.bash.variants${path}`,
    ]);
  });
});
