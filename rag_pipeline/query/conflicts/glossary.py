"""Everyday words of policies, manuals and price lists that mean the same, in English and Chinese.

Without them a Chinese passage and an English one about the same thing would share no word. They are general
words only: no names, no places, no products; those are compared as they are written.
"""

from typing import Final

CONCEPTS: Final = """
return: return, send…back, bring…back, give…back | 退货, 退回, 寄回, 归还
refund: refund, repay, reimburse, reimbursement, pay…back, money…back | 退款, 退费, 退还, 报销
exchange: exchange, swap, redeem | 换货, 兑换, 更换, 交换
replacement: replace, replacement | 替换
cancel: cancel, cancellation | 取消, 退订
terminate: terminate, termination, notice | 解除, 终止, 通知
buy: buy, purchase, bought | 购买, 采购, 买
sell: sell, sale, sold | 销售, 出售
order: order | 订单, 订购
book: booking, reservation, reserve | 预订, 预定, 预约
delivery: deliver, delivery | 送达, 签收, 送货, 交付, 配送
ship: ship, shipping, shipment, dispatch | 发货, 寄送, 物流
postage: postage | 运费, 邮费
parcel: parcel, package | 包裹
pay: pay, payment, paid, payable, payout | 付款, 支付, 缴费, 缴纳, 打款
price: price, cost, pricing | 价格, 价钱, 售价, 收费
fee: fee, charge, surcharge | 费用, 手续费, 服务费
fine: fine, penalty | 罚款, 违约金, 处罚
deposit: deposit | 押金, 定金, 保证金
rent: rent, lease, rental | 租金, 房租, 租赁, 租
discount: discount, reduction, rebate | 折扣, 优惠, 打折, 减免
commission: commission | 佣金, 提成
interest: interest | 利息, 利率
tax: tax, vat | 税, 增值税, 税率
salary: salary, wage, pay band | 工资, 薪资, 薪酬, 薪水
bonus: bonus | 奖金, 年终奖
invoice: invoice, bill | 发票, 账单
receipt: receipt | 收据, 小票
contract: contract, agreement | 合同, 协议
sign: sign, signature, signed | 签订, 签署, 签字
year: yearly, annual, annually | 年度, 每年, 按年, 年费, 年付
month: monthly | 每月, 按月, 月付, 月费
week: weekly | 每周, 按周
quarter: quarterly | 每季度, 季度
day: daily | 每天, 每日
warranty: warranty, guarantee | 保修, 质保, 保修期, 质保期
battery: battery, cell | 电池
frame: frame | 车架, 框架
repair: repair, fix, mend | 维修, 修理
fault: faulty, defect, defective, broken, fault | 故障, 损坏, 有问题, 缺陷
open: opened, unsealed | 拆封, 开封
sealed: sealed, unopened | 未拆封, 未开封, 密封
delete: delete, erase, remove, removal | 删除, 清除
keep: keep, kept, retain, retention, store, storage | 保留, 保存, 留存, 存储
log: log | 日志
backup: backup | 备份
restore: restore, recover, recovery | 恢复, 还原
data: data, record | 数据, 记录
document: document, file, paper | 文件, 文档, 资料
report: report | 报告, 上报, 汇报
request: request, apply, application, ask | 申请, 请求
approve: approve, approval, authorise, authorize | 审批, 批准, 审核
confirm: confirm, confirmation, acknowledge | 确认
answer: answer, reply, respond, response | 答复, 回复, 响应, 回应
complaint: complain, complaint | 投诉
submit: submit, upload, hand…in | 提交, 上传, 递交
expire: expire, expiry, lapse | 过期, 失效, 到期
valid: valid, validity | 有效, 有效期
renew: renew, renewal, extend, extension | 续期, 续订, 延长, 续借
start: start, begin, launch, effect | 开始, 生效, 起算, 启动, 启用
end: end, finish, close | 结束, 截止
open_hours: opening | 营业时间, 开放时间
deadline: deadline, time limit, due, period | 期限, 截止日期, 时限
limit: limit, maximum, cap, ceiling | 上限, 限额, 最多, 最高, 限制
minimum: minimum, least | 最低, 最少, 至少, 下限
number: number, count, quantity | 数量, 个数
amount: amount, sum | 金额, 数额
share: share, proportion, percentage | 比例, 占比, 百分比
capacity: capacity, seat, hold | 容量, 容纳, 座位
size: size, length | 大小, 尺寸, 长度
weight: weight, weigh | 重量
temperature: temperature | 温度, 气温
speed: speed, fast, quick | 速度
distance: distance, range, reach | 距离, 范围
user: user | 用户
client: client | 客户端
customer: customer, buyer | 客户, 顾客, 买家
member: member, membership | 会员, 成员
guest: guest | 客人, 住客, 旅客
visitor: visitor | 访客, 来访者
employee: employee, staff, worker | 员工, 职工, 雇员, 工作人员
contractor: contractor, freelancer | 外包人员, 承包商, 外包
manager: manager, supervisor, boss | 经理, 主管, 上级
lead: lead, leader | 负责人, 组长
team: team | 团队, 小组
department: department | 部门
supplier: supplier, vendor | 供应商
agent: agent | 代理商, 代理, 坐席
reseller: reseller, distributor, dealer | 经销商, 分销商
student: student, pupil | 学生, 学员
teacher: teacher | 教师, 老师
child: child, children, kid | 儿童, 孩子, 小孩
adult: adult | 成人, 成年人
senior: senior, pensioner | 老人, 老年人
family: family | 家庭
person: person, people, passenger | 人员, 乘客
driver: driver | 司机, 驾驶员
patient: patient | 患者, 病人
tenant: tenant | 租客, 租户
intern: intern, trainee | 实习生
new_employee: newcomer | 新员工
probation: probation | 试用期, 试用
leave: leave, vacation, holiday | 休假, 假期, 假
annual_leave: | 年假, 年休假
sick: sick, sickness, illness | 病假, 生病
parental: parental, maternity, paternity | 产假, 陪产假, 育儿假
overtime: overtime | 加班
hours: hours | 工时, 工作时间
remote: remote, home office | 远程, 居家
travel: travel, trip | 差旅, 出差
hotel: hotel, accommodation, lodging | 住宿, 酒店
meal: meal, food, catering | 餐饮, 用餐, 餐费
allowance: allowance, subsidy | 补助, 补贴, 津贴
expense: expense | 开支, 花费
budget: budget | 预算
account: account | 账户, 账号, 帐号
password: password, passphrase | 密码, 口令
pin: pin | pin码
character: character | 字符
digit: digit | 数字
login: login, log…in, sign-on, signon | 登录, 登陆
lock: lock, locked | 锁定
attempt: attempt, try | 尝试
access: access, entry, enter | 访问, 进入, 门禁
permit: permit, licence, license | 许可证, 许可, 停车证, 执照
device: device, appliance, equipment | 设备, 装置
sensor: sensor | 传感器
gateway: gateway, hub | 网关
server: server | 服务器
database: database | 数据库
browser: browser | 浏览器
software: software | 软件
hardware: hardware | 硬件
system: system | 系统
app: app | 应用
version: version, release | 版本
firmware: firmware | 固件
update: update, upgrade | 更新, 升级
install: install, installation | 安装
support: support, helpdesk | 客服, 支持团队
alert: alert, alarm, warning | 告警, 警报, 报警
incident: incident, outage, accident | 事件, 事故, 中断, 工伤
plan: plan, tier | 套餐, 计划, 方案
subscription: subscription, subscribe | 订阅
basic: basic, standard | 基础版, 标准版, 普通
premium: premium, professional | 高级版, 专业版
enterprise: enterprise, business edition | 企业版
free_version: | 免费版
pause: pause, suspend | 暂停, 中止
point: points | 积分
gift_card: gift card, voucher, coupon | 礼品卡, 优惠券, 代金券, 购物卡
free: free | 免费
cash: cash | 现金
card: card | 卡, 银行卡
withdraw: withdraw, withdrawal | 取现, 取款, 提现
transfer: transfer | 转账, 转让
shop: shop, store front | 商店, 店铺, 商城, 门店
warehouse: warehouse, depot | 仓库
item: item, product, goods, article, thing | 商品, 物品, 产品
part: part, spare | 配件, 零件
pet: pet, animal, dog, cat | 宠物, 动物, 狗, 猫
smoke: smoke, smoking | 吸烟, 抽烟
park: park, parking | 停车, 泊车
car: car, vehicle, van | 汽车, 车辆
bike: bike, bicycle | 自行车, 单车
ebike: e-bike, ebike | 电动自行车, 电动车
drill: drill | 电钻
flat: flat, apartment | 公寓, 房屋
room: room | 房间, 客房
meeting_room: meeting room | 会议室
check_in: check…in, check-in, arrival, arrive | 入住, 到达
check_out: check…out, check-out, departure | 退房, 离店
lab: lab, laboratory | 实验室
alone: alone | 单独, 独自
work: work, working | 作业, 工作
weekend: weekend | 周末
weekday: weekday | 工作日期间, 平日
office: office | 办公室
building: building | 大楼, 楼
training: training, course, lesson | 培训, 课程
exam: exam, test, examination | 考试, 测试
certificate: certificate | 证书, 合格证
inspection: inspect, inspection | 检查, 检验, 巡检
late: late, overdue, delay | 逾期, 迟到, 延迟
early: early | 提前
full_time: full-time, fulltime | 全职, 正式员工
part_time: part-time, parttime | 兼职
domestic: domestic, national | 国内
international: international, abroad, foreign, overseas | 国际, 国外, 境外, 海外
inside: inside, indoor | 室内
outside: outside, outdoor | 室外, 户外
summer: summer | 夏季, 夏天
winter: winter | 冬季, 冬天
spring: spring | 春季, 春天
autumn: autumn | 秋季, 秋天
small: small, little | 小型
large: large, big | 大型
gold: gold | 金卡, 黄金
silver: silver | 银卡, 白银
night: night, overnight | 每晚, 晚, 夜间
hour: hourly | 每小时
timetable: timetable, schedule | 时刻表, 日程
library: library | 图书馆
borrow: borrow, loan, lend | 借阅, 借书, 借
volume: book, books | 图书, 书籍, 书
signature_trip: ride, rides | 骑行, 乘车
sample: sample | 样品
production: production | 生产环境, 生产
staging: staging | 预发布
insurance: insurance, insured, insure | 保险, 投保
claim: claim | 理赔, 索赔
visa: visa | 签证
luggage: luggage, baggage | 行李
ticket: ticket, fare | 票, 门票, 车票, 机票
medicine: medicine, drug, medication | 药品, 药物
appointment: appointment | 挂号, 就诊
water: water | 水, 用水
electricity: electricity, power | 电力, 用电, 电费
badge: badge | 工牌, 胸卡, 胸牌
key: key | 钥匙, 密钥
locker: locker | 储物柜, 柜子
uniform: uniform | 工服, 制服
canteen: canteen, cafeteria | 食堂
letter: letter, mail | 信件, 信函
email: e-mail, email | 邮件, 邮箱, 电子邮件
phone: phone, telephone | 电话
address: address | 地址
identity: identity, id card | 身份证, 身份
passport: passport | 护照
photo: photo, picture | 照片
recording: recording, video | 录像, 录音, 视频
copy: copy | 复印, 副本
print: print | 打印
printer: printer | 打印机
form: form | 表格, 表单
statement: statement | 报表, 声明
tax_office: tax office | 税务局
audit: audit | 审计
meeting: meeting | 会议, 开会
shift: shift | 班次, 轮班
night_shift: night shift | 夜班
participant: participant, attendee | 参加者, 参与者, 与会者
conference: conference | 大会
interview: interview | 面试
candidate: candidate, applicant | 候选人, 应聘者, 申请人
recruit: recruit, recruitment, hire, hiring | 招聘, 录用
referral: referral, refer | 推荐, 内推
resign: resign, resignation | 辞职, 离职
retire: retire, retirement | 退休
doctor: doctor, physician | 医生, 医师
hospital: hospital, clinic | 医院, 诊所
pregnant: pregnant, pregnancy | 孕妇, 怀孕
rest: rest, break | 休息
fire: fire | 消防, 火灾
emergency: emergency | 紧急, 应急
safety: safety, safe | 安全
privacy: privacy | 隐私
personal_data: personal data | 个人信息, 个人数据
encrypt: encrypt, encryption | 加密
vulnerability: vulnerability | 漏洞
patch: patch | 补丁
deploy: deploy, deployment, rollout | 部署, 上线
rollback: rollback, roll…back | 回滚
merge: merge | 合并
review: review | 评审, 复核
code: code | 代码
cluster: cluster | 集群
node: node | 节点
timeout: timeout | 超时
retry: retry | 重试
quota: quota | 配额
api: api | 接口
message: message | 消息, 短信
queue: queue | 队列
cache: cache | 缓存
memory: memory, ram | 内存
disk: disk | 磁盘
archive: archive | 归档, 存档
lose: lose, lost, loss | 丢失, 遗失
damage: damage | 损失, 毁坏
compensate: compensate, compensation | 赔偿, 补偿
school: school | 学校
lecture: lecture, class | 讲座, 上课
thesis: thesis, dissertation | 论文
scholarship: scholarship, grant | 奖学金, 助学金
dormitory: dormitory, dorm | 宿舍
elevator: lift, elevator | 电梯
"""
"""One line a concept: name: English | Chinese words. "send…back" is "send" and, some words on, "back"."""

CONTRASTS: Final = (
    "adult child student senior family",
    "employee contractor intern visitor supplier agent reseller customer tenant patient teacher student",
    "full_time part_time",
    "domestic international",
    "inside outside",
    "summer winter spring autumn",
    "weekend weekday",
    "small large",
    "gold silver basic premium enterprise free_version",
    "open sealed",
    "production staging",
    "check_in check_out",
    "pet car bike ebike",
    "annual_leave sick parental overtime",
)
"""Concepts that exclude each other: what is said of one of a line is not said of the others."""

RELATED: Final = (
    "refund return",
    "refund pay",
    "hardware device sensor gateway item",
    "price fee",
    "price pay",
    "fee pay",
    "keep delete",
    "leave annual_leave",
    "customer user member guest person",
    "buy order",
    "ship delivery parcel",
    "open start",
    "limit deadline",
    "late deadline",
    "expire valid",
    "hotel room flat",
    "version firmware software",
)
"""Concepts that are often said for each other, though they do not mean the same."""

EMPTY_ENGLISH: Final = """
january february march april june july august september october november december jan feb mar apr jun jul
aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday
a about above after again all back also am an and any are as at be because been before being below between
both but by can cannot could did do does doing down during each either else few for from further get gets
give given gives got had has have having he her here hers him his how i if in into is it its itself just let
like made make makes many may me might mine more most much must my need needs no nor not of off on once one
only or other our ours out over own per please same shall she should so some such take taken takes than that
the their theirs them then there these they this those through to too under until up upon us use used very
was we were what when where whether which while who whom whose why will with within without would yes you
your yours day days week weeks month months hour hours minute minutes year years second seconds business
euro euros eur usd dollar dollars pound pounds gbp yuan percent time times date long allowed permitted
forbidden come comes zero two three four five six seven eight nine ten eleven twelve fifteen twenty thirty
forty fifty sixty ninety hundred half dozen exactly currently today now say says tell know want mean means
happen happens still yet soon ever
"""
"""English words that say nothing of what a text is about."""

EMPTY_CHINESE: Final = """
发生 进行 填写 直接 使用 办理 计算 收到 成为 属于 给予 享有 获得
多长时间 多少钱 多少天 多少个 什么时候 是多少 有多少 多少 多久 多长 几天 几个 几次 什么 怎么 如何 哪个
哪些 哪天 何时 是否 能否 可否 可以 需要 应该 必须 应当 允许 禁止 不得 不能 不可 可 应 须 需 要 能 的 了 在
是 有 和 与 或 及 吗 呢 吧 啊 由 被 把 将 为 于 从 到 自 以 对 按 之 其 这 那 本 该 我 你 您 他 她 它 们
我们 你们 您的 每 各 天 日 月 年 周 星期 小时 分钟 秒 个 元 之内 以内 内 之后 以后 后 之前 以前 前 就 都
也 还 才 又 很 再 已 已经 会 并 并且 但 但是 如果 请 问 答 上 下 中 里 不 没有 无 等 时 时间 一 二 两 三
四 五 六 七 八 九 十 百 千 万 几
"""
"""Chinese words that say nothing of what a text is about."""
