// Lines that go to the root or home directory: files are known from there, too.
import { expect, test } from "vitest";
import { partsOfShell } from "../../../../services/core/variants/shell/classify-shell.ts";

const textsOf = (line: string) =>
  (partsOfShell(line, { session: true }) ?? []).flatMap((part) => part.texts);

test.each([
  ["cd / && rm -rf etc", "rm -rf /etc"],
  ["cd // ; rm -rf ./etc", "rm -rf /etc"],
  ["cd -P -- /. && rm -rf *", "rm -rf /*"],
  ["cd / && rm -rf .", "rm -rf /"],
  ["cd; rm -rf src", "rm -rf ~/src"],
  ["cd ~ && rm -rf src", "rm -rf ~/src"],
  ["cd ~/.. && rm -rf src", "rm -rf ~/src"],
  ["pushd / && rm -rf etc", "rm -rf /etc"],
  ["cd / && sudo rm -rf etc", "rm -rf /etc"],
  ["cd / && sh -c 'rm -rf etc'", "rm -rf /etc"],
  ["sh -c 'cd / && rm -rf etc'", "rm -rf /etc"],
  ["cd / && cat < etc/a", "cat /etc/a"],
  ["cd / && echo $(< etc/a)", "cat /etc/a"],
  ["cd / && rm -rf {etc,usr}", "rm -rf /etc /usr"],
  ["cd /; (cd /tmp; ls); rm -rf etc", "rm -rf /etc"],
  ["cd /; false && cd /tmp; rm -rf etc", "rm -rf /etc"],
  ["cd / && find . -delete", "find / -delete"],
  ["cd / && find -delete", "find / -delete"],
  ["cd ~ && find -L -H -name a", "find -L -H ~/ -name ~/a"],
  ["cd / && find ! -name a", "find / ! -name /a"],
  ["cd / && find '(' -name a ')'", "find / ( -name /a )"],
  ["cd / && find -P", "find -P /"],
  ["cd / && find", "find /"],
  ["cd $HOME && rm -rf src", "rm -rf ~/src"],
  ['cd "$HOME"; rm -rf src', "rm -rf ~/src"],
  ["cd $" + "{HOME}/ && rm -rf src", "rm -rf ~/src"],
  ["cd -- $HOME/.. && rm -rf src", "rm -rf ~/src"],
  ["rm -rf $HOME", "rm -rf ~"],
  ['rm -rf "$' + '{HOME}"', "rm -rf ~"],
  ["rm -rf $HOME/src", "rm -rf ~/src"],
  ['rm -rf "$HOME"/src', "rm -rf ~/src"],
  ["rm -rf $HOME/$X", "rm -rf ~/"],
  ["rm -rf $HOME$X/src", "rm -rf ~/src"],
  ["rm -rf $HOME/{a,b}", "rm -rf ~/a ~/b"],
  ["rm -rf {a,b} $HOME", "rm -rf a b ~"],
  ["rm -rf $HOME/src", "rm -rf /src"],
  ["sudo rm -rf $HOME/src", "rm -rf ~/src"],
  ["sh -c 'rm -rf $HOME/src'", "rm -rf ~/src"],
  ["cat < $HOME/.ssh/id", "cat ~/.ssh/id"],
  ["git -C $HOME push", "git -C ~ push"],
])("%s: %s", (line, text) => {
  expect(textsOf(line)).toContain(text);
});

test.each([
  ["(cd / && ls); rm -rf dist", "rm -rf /dist"],
  ["rm -rf dist && cd /", "rm -rf /dist"],
  ["cd /w && rm -rf dist", "rm -rf /w/dist"],
  ["cd $X && rm -rf dist", "rm -rf ~/dist"],
  ["cd $HOME/src && rm -rf dist", "rm -rf ~/dist"],
  ["cd $HOME$X && rm -rf dist", "rm -rf ~/dist"],
  ["rm -rf $HOMES", "rm -rf ~"],
  ["rm -rf a$HOME", "rm -rf a~"],
  ["rm -rf $X$HOME/src", "rm -rf ~/src"],
  ["rm -rf $" + "{HOME}s", "rm -rf ~s"],
  ["rm -rf '$HOME'", "rm -rf ~"],
  ["rm -rf {a,$HOME}/b", "rm -rf ~/b"],
  ["cd / && find a -delete", "find / a -delete"],
  ["cd a && find -delete", "find / -delete"],
  ["cd a b && rm -rf dist", "rm -rf ~/dist"],
  ["pushd && rm -rf dist", "rm -rf ~/dist"],
  ["cd / && rm -rf -v /a", "rm /-rf"],
  ["cd ~ && curl -X GET a", "curl -X ~/GET ~/a"],
  ["sh -c 'cd /'; rm -rf dist", "rm -rf /dist"],
])("%s: not %s", (line, text) => {
  expect(textsOf(line)).not.toContain(text);
});
