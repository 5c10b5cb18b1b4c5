/**
 * What we know of Valkey, without touching one: the wire format, the meaning of its replies, slots, versions, settings.
 * Everything here is pure. What opens sockets is behind `@valkey-operator/valkey/connection` and `.../cluster-client`.
 */
export { parseClusterInfo, type ClusterInfo } from './cluster-info.ts';
export { ClusterNodesSyntaxError, parseClusterNodes, type ClusterNode, type OpenSlot } from './cluster-nodes.ts';
export { parseClusterShards } from './cluster-shards.ts';
export { parseClusterSlots, type NodeAddress, type SlotOwner, type SlotRoute } from './cluster-slots.ts';
export { canSetLive, classifySetting, defaultOfSetting, knowsSetting, type SettingClass } from './config/catalogue.ts';
export { quoteConfWord, splitConfLine, UnsafeConfTextError } from './config/conf-quoting.ts';
export { parseMemorySize } from './config/memory-size.ts';
export { nearestSetting } from './config/nearest-setting.ts';
export { isOwnedSetting, ownedSettings } from './config/owned-settings.ts';
export { parseConf, renderConf, type ConfSettings } from './config/render-conf.ts';
export { checkRestartOnlyValue } from './config/restart-only-value.ts';
export { canonicalValue, completeValue, isSameValue } from './config/same-value.ts';
export { formatSaveRules, parseSaveRules, type SaveRule } from './config/save-rules.ts';
export { canLoadFilesOf, hasFeature, rdbFormat, type ValkeyFeature } from './features.ts';
export { MissingFieldError } from './fields.ts';
export {
  parseInfo,
  type Info,
  type MemoryInfo,
  type PersistenceInfo,
  type PrimaryLink,
  type ReplicaLink,
  type ReplicationInfo,
  type ServerInfo,
} from './info.ts';
export { RespDecoder } from './resp/decoder.ts';
export { encodeCommand, encodeReply, type CommandArgument } from './resp/encoder.ts';
export { ValkeyError, type Redirect } from './resp/valkey-error.ts';
export {
  expectArray,
  expectInteger,
  expectMap,
  expectText,
  PushMessage,
  RespProtocolError,
  UnexpectedReplyError,
  type RespValue,
} from './resp/value.ts';
export { parseSlotMigrations, type SlotMigration } from './slot-migrations.ts';
export { checkCoverage, type SlotCoverage } from './slots/coverage.ts';
export { keySlot, SLOT_COUNT } from './slots/key-slot.ts';
export { applySlotMoves, assignSlotsEvenly, planSlotMoves, type SlotMove } from './slots/slot-moves.ts';
export { SlotSet, type SlotRange } from './slots/slot-set.ts';
export {
  compareReleaseLines,
  compareVersions,
  formatVersion,
  isSupportedVersion,
  newestVerifiedLine,
  oldestSupportedLine,
  parseVersion,
  versionOfImageTag,
  type ValkeyVersion,
} from './version.ts';
