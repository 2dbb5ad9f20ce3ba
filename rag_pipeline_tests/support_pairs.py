"""Passages with claims that they support and claims that they do not, by which the threshold was chosen."""

from typing import NamedTuple


class SupportPairs(NamedTuple):
    """A passage, a question about it, claims that follow from it, and claims that do not."""

    passage: str
    question: str
    supported: tuple[str, ...]
    unsupported: tuple[str, ...]


PAIRS = (
    SupportPairs(
        "Hardware may be returned within 14 days of delivery if it is unused and complete. The refund "
        "is paid to "
        "the original payment method within five business days after the goods have arrived at our "
        "warehouse.",
        "How long can I return hardware?",
        (
            "Unused and complete hardware can be returned within 14 days of delivery.",
            "Returns of hardware are possible within 14 days after delivery.",
            "Refunds go to the original payment method.",
            "The refund is paid within five business days after the goods reach the warehouse.",
            "Hardware must be unused and complete to be returned.",
        ),
        (
            "Customers receive a voucher for future purchases.",
            "Return shipping labels are provided by email on request.",
            "Opened software licences are excluded from any refund.",
            "The manager of the store approves every exchange personally.",
            "Hardware may not be returned once it was delivered.",
        ),
    ),
    SupportPairs(
        "The on-call engineer acknowledges a P1 alert within 15 minutes. If nobody acknowledges it, "
        "the alert is "
        "escalated to the team lead, and after another 15 minutes to the head of operations.",
        "Who is paged when a P1 alert is not acknowledged?",
        (
            "An unacknowledged P1 alert is escalated to the team lead.",
            "After another 15 minutes the alert goes to the head of operations.",
            "P1 alerts must be acknowledged by the on-call engineer within 15 minutes.",
            "If nobody acknowledges the alert, it is escalated to the team lead first.",
        ),
        (
            "The customer is informed by telephone about the outage.",
            "The security officer writes a report for the board.",
            "On-call engineers earn a bonus for every night shift.",
            "The alert is closed automatically and archived.",
        ),
    ),
    SupportPairs(
        "Employees accrue 2.5 vacation days per month. Up to five unused days may be carried over into "
        "the next "
        "calendar year; they expire on March 31. Contractors are not entitled to paid vacation.",
        "How many vacation days can be carried over?",
        (
            "Up to five unused vacation days can be carried over into the next year.",
            "Days that were carried over expire on March 31.",
            "Employees accrue 2.5 days of vacation per month.",
            "Contractors have no entitlement to paid vacation.",
        ),
        (
            "Contractors are entitled to paid vacation.",
            "Unused days are paid out with the December salary.",
            "Vacation requests need the approval of human resources.",
            "Parents receive additional leave for each child.",
        ),
    ),
    SupportPairs(
        "The limit-count plugin restricts the number of requests within a time window. Requests over "
        "the limit are "
        "rejected with status 503 unless `rejected_code` is set. The counter can be kept in memory or "
        "in Redis.",
        "What happens to requests over the limit?",
        (
            "Requests that exceed the limit are rejected with status 503 unless rejected_code is set.",
            "The limit-count plugin restricts how many requests are allowed in a time window.",
            "Counters can be stored in memory or in Redis.",
        ),
        (
            "The plugin encrypts traffic between the gateway and upstream servers.",
            "Requests over the limit are queued and processed later.",
            "Administrators must restart the gateway to change the plugin.",
            "The counter is stored in PostgreSQL.",
        ),
    ),
    SupportPairs(
        "# Travel\n\n| Class | Longest flight | Approval |\n|---|---|---|\n| Economy | any | none |\n"
        "| Business | over 8 hours | director |\n\nHotels are booked through the travel desk, up to "
        "150 EUR a night.",
        "When may I fly business class?",
        (
            "Business class needs the approval of a director.",
            "Business class is for flights over 8 hours.",
            "Hotels are booked through the travel desk for up to 150 EUR a night.",
            "Economy class needs no approval.",
        ),
        (
            "First class is reserved for the executive board.",
            "Rental cars must be refuelled before they are given back.",
            "Private accommodation is reimbursed with a flat rate.",
        ),
    ),
    SupportPairs(
        "Denver's defense ranked first in yards allowed. Peyton Manning was benched after throwing "
        "four "
        "interceptions, and Brock Osweiler started the next seven games.",
        "Who replaced Peyton Manning?",
        (
            "Brock Osweiler started the next seven games after Peyton Manning was benched.",
            "Peyton Manning threw four interceptions and was benched.",
            "Denver's defense was ranked first in yards allowed.",
        ),
        (
            "Peyton Manning retired after winning the championship.",
            "Tom Brady replaced Peyton Manning as quarterback.",
            "Carolina won the final against Denver.",
        ),
    ),
    SupportPairs(
        "What is the capital of Brazil? Refunds for annual plans are calculated by the month that "
        "remains.",
        "How are refunds for annual plans calculated?",
        ("Refunds for annual plans are calculated by the months that remain.",),
        (
            "The capital of Brazil is Brasília.",
            "Brazil's capital is a planned city designed by Oscar Niemeyer.",
            "Annual plans cannot be cancelled by resellers.",
        ),
    ),
    SupportPairs(
        "Backups are made every night at 02:00 and kept for 30 days. They are encrypted with AES-256, "
        "and the keys "
        "are held by the security team. A restore is tested every quarter.",
        "How long are backups kept?",
        (
            "Backups are kept for 30 days.",
            "Nightly backups at 02:00 are kept for 30 days.",
            "The security team holds the encryption keys.",
            "A restore is tested once every quarter.",
        ),
        (
            "Backups are copied to tape and stored in a bank vault.",
            "Customers may download their backups from the portal.",
            "The restore takes several hours depending on bandwidth.",
        ),
    ),
    SupportPairs(
        "硬件产品可在签收后14天内申请退货，商品须保持完好且配件齐全。退款将在仓库收到商品后五个工作日内原路退回。",
        "硬件可以在多少天内退货？",
        (
            "硬件产品签收后14天内可以申请退货。",
            "退货的商品须保持完好、配件齐全。",
            "仓库收到商品后五个工作日内退款原路退回。",
            "退款会在五个工作日内原路退回。",
        ),
        (
            "退货运费由客户自行承担。",
            "软件许可证一经激活概不退换。",
            "客户可以获得下次购物的优惠券。",
            "店长需要亲自审批每一次换货。",
        ),
    ),
    SupportPairs(
        "值班工程师须在15分钟内确认P1告警。无人确认时，告警升级给团队负责人，再过15分钟升级给运维主管。",
        "P1 告警多久内必须确认？",
        (
            "P1告警必须由值班工程师在15分钟内确认。",
            "无人确认的告警会升级给团队负责人。",
            "再过15分钟，告警将升级给运维主管。",
        ),
        (
            "客户会收到关于故障的电话通知。",
            "安全专员需要向董事会提交书面报告。",
            "值班工程师每次夜班可领取补贴。",
        ),
    ),
    SupportPairs(
        "员工每月累计2.5天年假。未休的年假最多可结转五天至次年，并于3月31日失效。外包人员不享受带薪年假。",
        "年假最多可以结转几天？",
        (
            "未休年假最多可以结转五天到次年。",
            "结转的年假在3月31日失效。",
            "外包人员没有带薪年假。",
            "员工每个月累计2.5天年假。",
        ),
        (
            "外包人员享受带薪年假。",
            "未休的年假在十二月折算成工资发放。",
            "请假申请须经人力资源部门批准。",
        ),
    ),
    SupportPairs(
        "限流插件用于限制时间窗口内的请求总数。超出阈值的请求返回503状态码，计数器可以保存在内存或Redis中。",
        "超出限流阈值会怎样？",
        (
            "超出阈值的请求会返回503状态码。",
            "限流插件限制时间窗口内请求的总数。",
            "计数器可保存在内存或 Redis 里。",
        ),
        (
            "插件负责加密网关与上游之间的流量。",
            "超出的请求会排队稍后处理。",
            "修改配置之后管理员必须重启服务。",
        ),
    ),
    # From here on each wrong claim is a right one with one thing changed: its number or subject for that of a
    # sibling, its meaning for the opposite, or its sentence for a piece of it.
    SupportPairs(
        "Hardware may be returned within 30 days of delivery. Software licences may be returned within 14 "
        "days of purchase. Gift cards cannot be refunded.",
        "Within how many days may hardware be returned?",
        (
            "Hardware can be returned within 30 days of delivery.",
            "Software licences can be returned within 14 days of purchase.",
            "Refunds of gift cards are not possible.",
            "Hardware may be returned within 30 days, and software licences may be returned within 14 days.",
        ),
        (
            "Hardware can be returned within 14 days of delivery.",
            "Software licences can be returned within 30 days of purchase.",
            "Refunds of gift cards are possible.",
            "Hardware may be returned within 14 days, and software licences may be returned within 30 days.",
        ),
    ),
    SupportPairs(
        "| Plan | Price | Seats | Support |\n|---|---|---|---|\n| Basic | 10 EUR | 3 seats | e-mail |\n"
        "| Pro | 20 EUR | 15 seats | telephone |",
        "What does the Pro plan cost?",
        (
            "The Pro plan has a price of 20 EUR.",
            "The Basic plan includes 3 seats.",
            "Support by telephone comes with the Pro plan.",
        ),
        (
            "The Pro plan has a price of 10 EUR.",
            "The Basic plan includes 15 seats.",
            "Support by telephone comes with the Basic plan.",
        ),
    ),
    SupportPairs(
        "Anna Weber approves travel. Peter Stone approves hardware up to 5,000 EUR. Purchases above that are "
        "approved by the board.",
        "Who approves hardware?",
        ("Travel is approved by Anna Weber.", "Peter Stone approves hardware up to 5,000 EUR."),
        ("Travel is approved by Peter Stone.", "Anna Weber approves hardware up to 5,000 EUR."),
    ),
    SupportPairs(
        "Smoking is forbidden in all offices. Dogs are allowed in the office on Fridays. Passwords must have "
        "at least 12 characters. Requests must be filed before 1 March.",
        "What is allowed in the office?",
        (
            "Smoking is not allowed in offices.",
            "On Fridays dogs are allowed in the office.",
            "Passwords need at least 12 characters.",
            "Requests have to be filed before March 1.",
        ),
        (
            "Smoking is allowed in offices.",
            "On Mondays dogs are allowed in the office.",
            "Passwords need at most 12 characters.",
            "Requests have to be filed after March 1.",
        ),
    ),
    SupportPairs(
        "It is not true that interns are paid overtime. No contractor may work from abroad.",
        "May contractors work from abroad?",
        ("It is not true that interns are paid overtime.", "No contractor may work abroad."),
        ("Interns are paid overtime.", "Contractors may work abroad."),
    ),
    SupportPairs(
        "张伟审批差旅。李娜审批采购。办公楼内禁止吸烟。密码不少于12个字符。礼品卡不可以退款。",
        "谁审批差旅？",
        ("差旅由张伟审批。", "李娜负责审批采购。", "办公楼内不允许吸烟。",
         "密码至少12个字符。", "礼品卡不能退款。"),
        ("差旅由李娜审批。", "张伟负责审批采购。", "办公楼内允许吸烟。",
         "密码至多12个字符。", "礼品卡可以退款。"),
    ),
    SupportPairs(
        "通知期限：\n\n- 正式员工：3个月\n- 实习生：2周\n\n"
        "硬件可在签收后30天内退货。软件可在购买后14天内退货。",
        "实习生的通知期限是多久？",
        ("实习生的通知期限是2周。", "正式员工的通知期限是3个月。", "硬件签收后30天内可以退货。"),
        ("实习生的通知期限是3个月。", "正式员工的通知期限是2周。", "硬件签收后14天内可以退货。"),
    ),
)  # fmt: skip
