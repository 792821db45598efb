/**
 * One step of a save, which the server runs atomically. A checkpoint is one hash:
 *
 * | field         | content                                                                    |
 * |---------------|----------------------------------------------------------------------------|
 * | `c:<key>`     | a conversation: digest, state hash, seq, snapshot                          |
 * | `n`, `s`      | number of the stored conversations, and the sum of their digests           |
 * | `h`           | the header, JSON                                                           |
 * | `m`           | the mark: token of the latest finished save                                |
 * | `t`, `o`      | the journal's topic id and offset in the header                            |
 * | `w`, `i`      | token of a save in progress, and its latest step                           |
 * | `wt`, `wo`    | topic id and offset of the save in progress                                |
 * | `u`           | exists during a save that leaves no valid checkpoint until it ends         |
 *
 * SAVE-1 A save begins only on a state that its caller knows: its mark, or the result of its own
 *    saves with an unknown outcome. It goes on only if no other save began and no step was undone
 *    meanwhile.
 * SAVE-2 A save of an older offset of the same journal does not begin while a newer one is in
 *    progress.
 * SAVE-3 A checkpoint that is older than one that this caller has saved shows that the server was
 *    rolled back; it is removed.
 */
export const SAVE_SCRIPT = `
local key = KEYS[1]
local expected, own, token, step = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local replace, last, partial = ARGV[5] == '1', ARGV[6] == '1', ARGV[7] == '1'
local topic, offset, savedOffset = ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10])
local header, upserts, FIRST = ARGV[11], tonumber(ARGV[12]), 13

local function removed()
  redis.call('UNLINK', key)
  return {'stale', ''}
end

local kind = redis.call('TYPE', key).ok
local f, held = {}, ''
if kind == 'hash' then
  f = redis.call('HMGET', key, 'm', 'w', 'i', 'wt', 'wo', 't', 'o', 'n', 's')
  held = f[1] or (f[2] and 'w:' .. f[2]) or 'type:hash'
elseif kind ~= 'none' then
  held = 'type:' .. kind
end

if step == 0 then
  local name = string.gsub(held, '^w:', '')
  if held ~= expected and not (held ~= '' and string.find(own, ',' .. name .. ',', 1, true)) then
    if f[6] == topic and (tonumber(f[7]) or savedOffset) < savedOffset then return removed() end
    return {'stale', held}
  end
  if f[2] and f[4] == topic and (tonumber(f[5]) or 0) > offset then return {'stale', held} end
  if replace and kind ~= 'none' then
    redis.call('UNLINK', key)
    f = {}
  end
elseif f[2] ~= token then
  if held ~= '' and held == expected and not f[2] then return removed() end
  return {'stale', held}
elseif tonumber(f[3]) ~= step - 1 then
  return removed()
end

local LIMBS, BASE = '>I4I4I4I4I4I4I4I4', 4294967296
local count = tonumber(f[8]) or 0
local before = f[9]
if not before or #before ~= 32 then before = string.rep('\\0', 32) end
local sum = {struct.unpack(LIMBS, before)}

local function add(digest, sign)
  local limbs = {struct.unpack(LIMBS, digest)}
  for i = 1, 8 do sum[i] = sum[i] + sign * limbs[i] end
  count = count + sign
end

local function forget(fields)
  local old = redis.call('HMGET', key, unpack(fields))
  for i = 1, #fields do
    if old[i] and #old[i] >= 32 then add(old[i], -1) end
  end
end

if upserts > 0 then
  local fields, pairs = {}, {}
  for i = 1, upserts do
    fields[i] = ARGV[FIRST + 2 * i - 2]
    pairs[2 * i - 1] = fields[i]
    pairs[2 * i] = ARGV[FIRST + 2 * i - 1]
  end
  forget(fields)
  for i = 1, upserts do add(pairs[2 * i], 1) end
  redis.call('HSET', key, unpack(pairs))
end
local removals = {}
for i = FIRST + 2 * upserts, #ARGV do removals[#removals + 1] = ARGV[i] end
if #removals > 0 then
  forget(removals)
  redis.call('HDEL', key, unpack(removals))
end

local carry = 0
for i = 8, 1, -1 do
  local limb = sum[i] + carry
  carry = math.floor(limb / BASE)
  sum[i] = limb - carry * BASE
end
redis.call('HSET', key, 'n', string.format('%.0f', count), 's', struct.pack(LIMBS, unpack(sum)))
if last then
  redis.call('HSET', key, 'h', header, 'm', token, 't', topic, 'o', ARGV[9])
  redis.call('HDEL', key, 'w', 'i', 'wt', 'wo', 'u')
  return {'saved', token}
end
redis.call('HSET', key, 'w', token, 'i', ARGV[4], 'wt', topic, 'wo', ARGV[9])
if partial then redis.call('HSET', key, 'u', '1') end
return {'saved', held}
`;
